import type { CoreClients } from "../core/core-clients.ts";
import { readModels } from "../core/models.ts";
import type { Exchange } from "../exchange.ts";
import type { Routes } from "../routing/routes.ts";
import { escapeHtml } from "../site/escape-html.ts";
import { pathOf } from "../site/model-facts.ts";
import { readBaseUrl } from "../site/page.ts";

/** Pages are for search engines, the API is not. */
const rules = ["Allow: /$", "Allow: /models/", "Allow: /status$", "Allow: /sitemap.xml$", "Disallow: /"];

/** Mounts what search engines read: which addresses they may ask for, and a list of the public pages. */
export function mountSearchEngines(routes: Routes, core: CoreClients): void {
  routes.add({
    verb: "GET",
    path: "/robots.txt",
    handle(exchange) {
      const lines = ["User-agent: *", ...rules, `Sitemap: ${baseOf(exchange)}/sitemap.xml`];
      exchange.send(200, `${lines.join("\n")}\n`, { "content-type": "text/plain; charset=utf-8" });
    },
  });

  routes.add({
    verb: "GET",
    path: "/sitemap.xml",
    async handle(exchange) {
      const base = baseOf(exchange);
      const paths = ["/", ...(await readModels(core, exchange)).map(pathOf), "/status"];
      const urls = paths.map((path) => `<url><loc>${escapeHtml(base + path)}</loc></url>\n`).join("");
      const head =
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n';
      exchange.send(200, `${head}${urls}</urlset>\n`, { "content-type": "application/xml; charset=utf-8" });
    },
  });
}

function baseOf({ request, runtime }: Exchange): string {
  return readBaseUrl(request, runtime.isTrustedProxy);
}
