import type { ComponentType } from "preact";
import { connectionLost, reachAtLast } from "./connection.ts";
import type { PageProps } from "./page-props.ts";
import { path } from "./router.ts";

/** Loads the code of a page. */
export type Load = () => Promise<{ readonly default: ComponentType<PageProps> }>;

const pauseMs = 1000;

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
  // First a pause: whatever is wrong with the code itself must not load the page again and again at once.
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  // The server has this page, however the session stands.
  if ((await reachAtLast("/sign-in", () => path.peek() === wanted)) !== undefined) {
    location.reload();
  }
  return undefined;
}
