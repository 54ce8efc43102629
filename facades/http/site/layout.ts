import { escapeHtml } from "./escape-html.ts";
import type { SiteFacts } from "./facts.ts";
import { mark } from "./page.ts";

/** Where a page's links lead. */
export interface Reach {
  /** The URL that clients call, such as "https://api.example.com". */
  readonly baseUrl: string;
  /** What stands before the paths of the site's own pages: nothing, or the URL of the public listener. */
  readonly pages: string;
  /** Where people sign in. Undefined: nowhere that is known. */
  readonly signIn: string | undefined;
}

/** A page of the site. */
export interface Page {
  /** The service's name follows it. */
  readonly title: string;
  /** For search engines. */
  readonly description: string;
  /** The HTML between header and footer. */
  readonly body: string;
}

/** A page with the site's header and footer. It runs no script and loads no other file. */
export function renderPage({ title, description, body }: Page, facts: SiteFacts, css: string, reach: Reach): string {
  const name = escapeHtml(facts.name);
  const pages = escapeHtml(reach.pages);
  const base = escapeHtml(reach.baseUrl);
  const logo = facts.logo === undefined ? mark : `<img src="${escapeHtml(facts.logo)}" alt="" height="28">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)} · ${name}</title>
<meta name="description" content="${escapeHtml(description)}">
<style>${css}</style>
</head>
<body class="site">
<header><span class="brand"><a href="${pages}/">${logo}${name}</a></span><nav aria-label="Site"><a href="${pages}/">Models</a><a href="${pages}/status">Status</a>${
    reach.signIn === undefined ? "" : `<a class="go" href="${escapeHtml(reach.signIn)}">Sign in</a>`
  }</nav></header>
<main>
${body}
</main>
<footer>${footerLinks(facts)
    .map(([text, href]) => `<a href="${escapeHtml(href)}">${text}</a>`)
    .join("")}<a href="${base}/v1/models">Models as JSON</a><a href="${base}/openapi.json">OpenAPI document</a></footer>
</body>
</html>
`;
}

/** Where the service has its terms, its privacy notice and its support, by the texts of the links. */
export function footerLinks({ terms, privacy, support }: SiteFacts): [string, string][] {
  const help = support === undefined || /^https?:/.test(support) ? support : `mailto:${support}`;
  return [
    ["Terms", terms],
    ["Privacy", privacy],
    ["Support", help],
  ].filter((link): link is [string, string] => link[1] !== undefined);
}
