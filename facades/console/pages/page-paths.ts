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
