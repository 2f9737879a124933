/** A paper clip that takes the colour of its text. */
export function Clip() {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M20 11.5 12.2 19a4.6 4.6 0 0 1-6.5-6.5l8-7.7a3 3 0 0 1 4.3 4.3l-8 7.6a1.5 1.5 0 0 1-2.1-2.1l7-6.8" />
    </svg>
  )
}
