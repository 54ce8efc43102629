import { hash } from "node:crypto";
import type { SiteFacts } from "./facts.ts";
import { style } from "./page.ts";

/** What the pages of the site have beside the common style. */
const own = `.site{max-width:68rem}
.site header{flex-wrap:wrap}
.site header .brand a{display:flex;align-items:center;gap:.6rem;padding:0;background:none;color:inherit}
.brand img{display:block;height:28px;width:auto;max-width:10rem}
.brand svg,.plot .in,.days .ok{color:var(--mark)}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:center}
.site header nav a:not(.go){padding:0;background:none;color:inherit;font-weight:450}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:1rem;padding:0;margin:1rem 0;list-style:none}
.card{border:1px solid light-dark(#e4e4e0,#2d2f2d);border-radius:8px;background:light-dark(#fff,#1b1c1b);padding:1rem;min-width:0}
.card h3{font-size:1rem;margin:0}
code,.id{overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.2rem 1rem;margin:.75rem 0}
dt{color:light-dark(#5c605b,#a3a8a1)}
dd{margin:0;text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.plot,.days{display:block;width:100%;height:auto}
.plot path,.days path{fill:none;stroke:currentColor;stroke-width:1.5;vector-effect:non-scaling-stroke}
.plot .out{color:light-dark(#5c605b,#a3a8a1)}
.days path{stroke-width:3;vector-effect:none}
.days .none{color:light-dark(#e4e4e0,#2d2f2d)}
.days .part{color:light-dark(#b26a00,#f0b429)}
.days .bad{color:light-dark(#b3261e,#ff8a80)}
footer{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}`;

const green = "#126b52";

/** The style of the site's pages, in the colour that the operator chose. */
export function createStyle({ colour = green }: Pick<SiteFacts, "colour">): string {
  // Dark pages get a lighter tone of the same colour, so that marks stay visible.
  return `${style}\n.site{--mark:light-dark(${colour},color-mix(in oklab,${colour} 55%,#fff))}\n${own}`;
}

/** The headers of a page with this style: no script, no other host, nothing that is kept. */
export function createHeaders(css: string): Readonly<Record<string, string>> {
  const source = `'sha256-${hash("sha256", css, "base64")}'`;
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src ${source}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    vary: "accept",
  };
}
