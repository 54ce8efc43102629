import { escapeHtml } from "../../http/site/escape-html.ts";
import type { SiteFacts } from "../../http/site/facts.ts";
import { footerLinks } from "../../http/site/layout.ts";
import type { StaticFiles } from "../../http/site/static-files.ts";

/** Relations of links that HTML has names for, by what the public pages call them. */
const relations: Readonly<Record<string, string>> = {
  Terms: "terms-of-service",
  Privacy: "privacy-policy",
  Support: "help",
};

/** The built files, with the name, logo, colour and links of whoever runs the service in the head of their page. The browser code reads them there. */
export function nameIndex(files: StaticFiles, site: SiteFacts): StaticFiles {
  const page = files.get("index.html");
  if (page === undefined) {
    return files;
  }
  const name = escapeHtml(site.name);
  const links = footerLinks(site).map(([text, href]) => `<link rel="${relations[text]}" href="${escapeHtml(href)}">`);
  const colour = site.colour && `<meta name="theme-color" content="${escapeHtml(site.colour)}">`;
  const head = [`<title>${name}</title>`, `<meta name="application-name" content="${name}">`, colour, ...links]
    .filter(Boolean)
    .join("\n    ");
  let html = Buffer.from(page)
    .toString()
    .replace(/<title>.*?<\/title>/, () => head);
  if (site.logo !== undefined) {
    const icon = `<link rel="icon" id="logo" href="${escapeHtml(site.logo)}">`;
    html = html.replace(/<link rel="icon"[^>]*>/, () => icon);
  }
  return new Map(files).set("index.html", Buffer.from(html));
}
