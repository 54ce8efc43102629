interface Props {
  readonly text: string;
  /** Whether it gets little room, because much stands beside it. */
  readonly isShort?: boolean;
}

/** A text of any length on one line, of either writing direction. Its end is cut where there is no room; the title has all of it. */
export function Clip({ text, isShort = false }: Props) {
  return (
    <bdi class={isShort ? "clip short" : "clip"} title={text}>
      {text}
    </bdi>
  );
}
