/** A name that somebody chose. Its writing direction changes the order of nothing around it. */
export function Name({ text }: { readonly text: string }) {
  return <bdi>{text}</bdi>;
}
