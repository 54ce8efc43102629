import type { ComponentType } from "preact";
import { connectionLost, connectionWorks } from "./connection.ts";
import type { PageProps } from "./page-props.ts";
import { path } from "./router.ts";

/** Loads the code of a page. */
export type Load = () => Promise<{ readonly default: ComponentType<PageProps> }>;

const retryMs = 1000;

/**
 * The component of a page. While its code cannot be had, asks for it again; undefined: the reader has gone elsewhere. A
 * browser may remember that an import failed, and an upgrade has other names for it: once the server answers, the page
 * is loaded anew as a whole.
 */
export async function loadPage(wanted: string, load: Load): Promise<ComponentType<PageProps> | undefined> {
  try {
    return (await load()).default;
  } catch {
    connectionLost();
  }
  while (path.peek() === wanted) {
    // First a pause: whatever is wrong with the code itself must not load the page again and again at once.
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    if (path.peek() === wanted && (await answers())) {
      connectionWorks();
      location.reload();
      return undefined;
    }
  }
  return undefined;
}

/** Whether the server has the page again, however the session stands. */
function answers(): Promise<boolean> {
  return fetch("/sign-in", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
}
