/** A text of any length on one line: its end is cut where there is no room; whole in its title. */
export function Clip({ text }: { readonly text: string }) {
  return (
    <span class="clip" title={text}>
      {text}
    </span>
  );
}
