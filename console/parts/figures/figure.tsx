import type { ComponentChildren } from "preact";

interface Props {
  readonly name: string;
  readonly children: ComponentChildren;
  /** What the figure is made of, or what it means. */
  readonly detail?: ComponentChildren;
  /** Whether it takes the whole width on narrow screens. */
  readonly isWide?: boolean;
}

/** One important figure and its name. */
export function Figure({ name, children, detail, isWide }: Props) {
  return (
    <div class={isWide ? "figure wide" : "figure"}>
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

interface MeterProps {
  /** 0 to 1. */
  readonly part: number;
  /** Whether a high value is harmless: it shows what is left of something, not what is used of a limit. */
  readonly isLevel?: boolean;
}

/** A bar for a part of something. The figures stand beside it. */
export function Meter({ part, isLevel = false }: MeterProps) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <span class={`meter ${isLevel ? "good" : toneOf(percent)}`} aria-hidden="true">
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
