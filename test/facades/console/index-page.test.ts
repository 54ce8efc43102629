import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { nameIndex } from "../../../facades/console/pages/index-page.ts";
import { plainSite } from "../../support/plain-site.ts";

const files = new Map([["index.html", readFileSync(new URL("../../../console/index.html", import.meta.url))]]);
const render = (facts: Partial<typeof plainSite>) =>
  Buffer.from(nameIndex(files, { ...plainSite, ...facts }).get("index.html") ?? "").toString();

test("the console's page has the service's name, logo and links", () => {
  const html = render({
    name: "Example Inference",
    logo: "data:image/png;base64,AA==",
    colour: "#112233",
    terms: "https://example.com/terms",
    support: "help@example.com",
  });
  expect(html).toContain("<title>Example Inference</title>");
  expect(html).toContain('<meta name="application-name" content="Example Inference">');
  expect(html.match(/<link rel="icon"[^>]*>/g)).toEqual([
    '<link rel="icon" id="logo" href="data:image/png;base64,AA==">',
  ]);
  expect(html).toContain('<link rel="terms-of-service" href="https://example.com/terms">');
  expect(html).toContain('<link rel="help" href="mailto:help@example.com">');
  expect(html).toContain('<meta name="theme-color" content="#112233">');
  expect(html).not.toContain("privacy-policy");
});

test("a name is text, whatever it holds", () => {
  const html = render({ name: `$& <b>"A & B"</b>` });
  expect(html).toContain("<title>$&amp; ");
  expect(html).not.toContain("<b>");
});

test("without facts the page is Tollgate's, and a console that was not built has none", () => {
  expect(render({})).toContain("<title>Tollgate</title>");
  expect(render({})).toContain('<link rel="icon" href="data:image/svg+xml');
  expect(nameIndex(new Map(), plainSite).size).toBe(0);
});
