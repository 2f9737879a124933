/** The buttons of a card as its readers see them: the label, and the value that a press reports. */
export function buttonsOf(message: { readonly content: string }): readonly Button[] {
  const found: Button[] = []
  JSON.parse(message.content, (_key, element: unknown) => {
    const button = element as { tag?: string; text?: { content: string }; behaviors?: { value: unknown }[] } | null
    if (button?.tag === 'button') found.push({ label: button.text?.content ?? '', value: button.behaviors?.[0]?.value })
    return element
  })
  return found
}

export interface Button {
  readonly label: string
  readonly value: unknown
}
