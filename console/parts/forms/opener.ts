/** A button that was pressed. It may be away while what it opened is there, and come back as another element. */
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
 * Remembers the button that opened something. The function gives the focus back to it, or to the one that took its place,
 * or to the page's name, so that a keyboard goes on where it was.
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
