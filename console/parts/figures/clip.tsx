interface Props {
  readonly text: string;
  /** Whether much else stands beside it. */
  readonly isShort?: boolean;
}

/** A text of any length on one line: its end is cut where there is no room; whole in its title. */
export function Clip({ text, isShort = false }: Props) {
  return (
    <span class={isShort ? "clip short" : "clip"} title={text}>
      {text}
    </span>
  );
}
