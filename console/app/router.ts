import { computed, signal } from "@preact/signals";
import { arriveAtEntry, closeDialogs, isAtDialogs, isTakingBack, takeBack } from "../parts/forms/dialog-entry.ts";

const location = signal(readLocation());

/** The current path, without the origin. */
export const path = computed(() => location.value.path);

/** The current path and query string, as a link has them. */
export const address = computed(() => location.value.address);

/** The current query string. */
export const query = computed(() => new URLSearchParams(location.value.search));

/** Goes to another page of the console, like a link. Whoever goes out of a dialog leaves it, and its entry to the page. */
export function navigate(to: string, options: { readonly replace?: boolean } = {}): void {
  const isOut = isAtDialogs();
  if (isTakingBack() || (isOut && options.replace)) {
    takeBack(() => navigate(to, options)); // what is replaced is the page's entry
    return;
  }
  if (options.replace || isOut) {
    history.replaceState(null, "", to);
  } else {
    history.pushState(null, "", to);
  }
  if (!options.replace) {
    scrollTo(0, 0);
  }
  location.value = readLocation();
  closeDialogs();
}

/** Goes out of the console, to the page of somebody else. Whoever comes back finds no dialog. */
export function leaveFor(url: string): void {
  if (isAtDialogs()) {
    window.location.replace(url);
  } else {
    window.location.assign(url);
  }
  closeDialogs();
}

/** Changes query parameters and keeps the path, so that filters are in the address. An empty value removes one. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(location.peek().search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") {
      next.delete(name);
    } else {
      next.set(name, value);
    }
  }
  const search = next.toString();
  navigate(search === "" ? path.peek() : `${path.peek()}?${search}`, { replace: true });
}

/** Handles clicks on links within the console, and the browser's back and forward buttons. */
export function startRouter(): void {
  addEventListener("popstate", () => {
    const before = location.peek();
    location.value = readLocation();
    const { path: at, search } = location.peek();
    arriveAtEntry(at === before.path && search === before.search);
  });
  arriveAtEntry(true);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link !== null && isOurs(link, event)) {
      event.preventDefault();
      navigate(link.pathname + link.search);
    }
  });
}

function isOurs(link: HTMLAnchorElement, event: MouseEvent): boolean {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const isPage = link.origin === window.location.origin && link.target === "" && !link.hasAttribute("download");
  return isPlain && isPage && link.getAttribute("href")?.startsWith("/") === true && !event.defaultPrevented;
}

function readLocation(): { readonly path: string; readonly search: string; readonly address: string } {
  const { pathname, search } = window.location;
  return { path: decode(pathname), search, address: pathname + search };
}

/** A readable path. A path that is not UTF-8 stays encoded and matches no page. */
function decode(pathname: string): string {
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}
