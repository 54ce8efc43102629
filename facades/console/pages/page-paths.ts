/** Pages whose path is whole. */
const pages: ReadonlySet<string> = new Set([
  "/",
  "/overview",
  "/first-run",
  "/accounts",
  "/keys",
  "/models",
  "/usage",
  "/playground",
  "/fleet",
  "/books",
  "/audit",
  "/settings",
  "/sign-in",
]);
/** Pages of one thing, which the rest of the path names; a model's id has slashes of its own. */
const details = /^\/(?:accounts\/[^/]+|receipts\/[^/]+|models\/.+)$/;

/** Whether the browser code has a page at a path. */
export function isPage(path: string): boolean {
  return pages.has(path) || details.test(path);
}

/** A path of this origin to go to after sign-in. Undefined: the text leads elsewhere. */
export function readNext(text: string | null): string | undefined {
  // A second slash or backslash at the start would be another host's address.
  if (text === null || !/^\/(?![/\\])[!-~]*$/.test(text)) {
    return undefined;
  }
  return isPage(text.split(/[?#]/, 1)[0] ?? "") ? text : undefined;
}
