import type { ServerResponse } from "node:http";
import { escapeHtml } from "../../http/site/escape-html.ts";
import type { SiteFacts } from "../../http/site/facts.ts";
import { mark, style } from "../../http/site/page.ts";

/** What a note has besides its sentence. */
interface More {
  /** HTML for its head. */
  readonly head?: string;
  /** A link: its text and where it leads. Empty: to this very address, which the browser then follows from a page of our own. */
  readonly link?: readonly [text: string, href: string];
}

/** Answers with a small page without script, in the style of the public page: a heading and a sentence for people. */
export function sendNote(
  response: ServerResponse,
  { name, logo, colour = "currentColor" }: SiteFacts,
  status: number,
  title: string,
  sentence: string,
  { head = "", link }: More = {},
): void {
  const way = link === undefined ? "" : `<p><a href="${escapeHtml(link[1])}">${escapeHtml(link[0])}</a></p>`;
  const image =
    logo === undefined ? mark.replace("currentColor", colour) : `<img src="${escapeHtml(logo)}" alt="" height="28">`;
  const site = escapeHtml(name);
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)} · ${site}</title><style>${style}</style>${head}</head>
<body><header><span class="brand">${image}${site}</span></header><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(sentence)}</p>${way}</main></body>
</html>
`;
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
  });
  response.end(body);
}
