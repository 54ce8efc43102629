/** Pages with a fixed path. */
const pages: ReadonlySet<string> = new Set([
  "/",
  "/overview",
  "/first-run",
  "/accounts",
  "/money",
  "/keys",
  "/models",
  "/usage",
  "/margin",
  "/requests",
  "/playground",
  "/fleet",
  "/books",
  "/audit",
  "/settings",
  "/sign-in",
  "/people",
]);
/** Pages whose path ends with an id. A model's id may contain slashes. */
const details = /^\/(?:accounts\/[^/]+|invitation\/[^/]+|receipts\/[^/]+|requests\/[^/]+|models\/.+)$/;

/** Whether the browser code has a page at a path. */
export function isPage(path: string): boolean {
  return pages.has(path) || details.test(path);
}
