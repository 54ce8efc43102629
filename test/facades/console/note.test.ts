import type { ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import { sendNote } from "../../../facades/console/pages/note.ts";
import { plainSite } from "../../support/plain-site.ts";

function render(facts: Partial<typeof plainSite>): string {
  let html = "";
  const response = { writeHead: () => response, end: (body: string) => (html = body) } as unknown as ServerResponse;
  sendNote(response, { ...plainSite, ...facts }, 403, "You have no account here", "Ask an owner.");
  return html;
}

test("a note has the service's name and logo, or else its name and its colour", () => {
  const logo = "data:image/png;base64,AA==";
  expect(render({ name: "A & B", logo })).toContain(`<img src="${logo}" alt="" height="28">A &amp; B</span>`);
  expect(render({ name: "A & B", logo })).toContain("<title>You have no account here · A &amp; B</title>");
  expect(render({ colour: "#112233" })).toMatch(/fill="#112233".*<\/svg>Tollgate<\/span>/);
  expect(render({})).toMatch(/fill="currentColor".*<\/svg>Tollgate<\/span>/);
});
