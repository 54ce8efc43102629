/** A button that was pressed. It may disappear while what it opened is shown, and return as another element. */
interface Pressed {
  readonly element: HTMLElement;
  readonly name: string;
}

let last: Pressed | undefined;

const nameOf = (element: Element): string => element.getAttribute("aria-label") ?? element.textContent ?? "";

document.addEventListener(
  "click",
  ({ target }) => {
    const element = target instanceof Element ? target.closest<HTMLElement>("button") : null;
    last = element === null ? undefined : { element, name: nameOf(element) };
  },
  { capture: true },
);

/**
 * Remembers the button that opened something. The returned function gives the focus back to it, to the element that
 * replaced it, or to the page's heading, so that a keyboard continues where it was.
 */
export function rememberOpener(): () => void {
  const opener = last;
  return () => {
    requestAnimationFrame(() => {
      if (document.activeElement !== null && document.activeElement !== document.body) {
        return;
      }
      const isAgain = (button: Element) => opener !== undefined && nameOf(button) === opener.name;
      const again = opener?.element.isConnected
        ? opener.element
        : [...document.querySelectorAll<HTMLElement>("main button")].find(isAgain);
      (again ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: true });
    });
  };
}
