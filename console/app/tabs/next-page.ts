/** Where the browser keeps the page to go to after a sign-in that leads out of it. */
const key = "tollgate-next";
/** As long as what was begun is good for. */
const keptMs = 600_000;

/** Keeps a page for whatever tab the sign-in comes back to: a mail's link opens one of its own. */
export function keepNextPage(path: string): void {
  localStorage.setItem(key, JSON.stringify({ path, until: Date.now() + keptMs }));
}

/** The page that was kept, once. Undefined: there is none, or it was kept too long. */
export function takeNextPage(): string | undefined {
  const kept = localStorage.getItem(key);
  localStorage.removeItem(key);
  const { path, until } = JSON.parse(kept ?? "{}") as { path?: string; until?: number };
  return until !== undefined && until > Date.now() ? path : undefined;
}
