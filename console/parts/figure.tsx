import type { ComponentChildren } from "preact";

interface Props {
  readonly name: string;
  readonly children: ComponentChildren;
  /** What the figure is made of, or what it means. */
  readonly detail?: ComponentChildren;
}

/** One figure that matters, under its name. */
export function Figure({ name, children, detail }: Props) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class="figure-value">{children}</dd>
      {detail && <dd class="figure-detail">{detail}</dd>}
    </div>
  );
}

/** Figures side by side. */
export function Figures({ children }: { readonly children: ComponentChildren }) {
  return <dl class="figures">{children}</dl>;
}

/** How much of a limit is used, as a bar. The figures stand beside it. */
export function Meter({ part }: { readonly part: number }) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <span class={`meter ${toneOf(percent)}`} aria-hidden="true">
      <span style={{ inlineSize: `${percent}%` }} />
    </span>
  );
}

function toneOf(percent: number): string {
  if (percent >= 90) {
    return "bad";
  }
  return percent >= 70 ? "warn" : "good";
}
