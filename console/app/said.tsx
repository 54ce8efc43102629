import { signal } from "@preact/signals";

const shownMs = 6000;
const text = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says that something was done, for a moment and to screen readers. */
export function say(sentence: string): void {
  clearTimeout(timer);
  text.value = sentence;
  timer = setTimeout(() => {
    text.value = "";
  }, shownMs);
}

/** What was said last. It stands over the page, and takes no room of it. */
export function Said() {
  return (
    <div aria-live="polite" class={text.value === "" ? "visually-hidden" : "said"}>
      {text.value}
    </div>
  );
}
