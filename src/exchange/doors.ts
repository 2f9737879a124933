/** The door of what was found in a history. */
export const GAP_FILL = 'gap-fill'
