import * as z from "zod";
import { isSecureWeb, plainName } from "./values.ts";

/** Whether an address names a host and nothing in it. */
function isWholeHost(text: string): boolean {
  const url = URL.parse(text);
  return url === null || (url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "");
}

const web = z.string().max(2000).refine(isSecureWeb, "must be an https address, or http on this machine");

/** What customers see of whoever runs the service. */
export const site = z
  .strictObject({
    name: plainName.min(1).max(100).default("Tollgate").describe("The service's name on its pages and in its mails."),
    logo: z
      .string()
      .min(1)
      .optional()
      .describe("An SVG or PNG file of 32 KiB at most, shown beside the name. Default: Tollgate's mark."),
    colour: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as "#126b52"')
      .optional()
      .describe("The colour of marks and plots. Default: Tollgate's green."),
    terms: web.optional().describe("The terms of use. Default: no link."),
    privacy: web.optional().describe("What is kept about people. Default: no link."),
    support: z
      .string()
      .max(2000)
      .refine(
        (text) => isSecureWeb(text) || /^[^\s@<>:]{1,64}@[^\s@<>:]+$/.test(text),
        "must be an https or an e-mail address",
      )
      .optional()
      .describe("Where people find help: a web or an e-mail address. Default: no link."),
    address: web
      .refine((text) => !text.endsWith("/"), "must not end with a slash")
      .refine(isWholeHost, "must have no path, query or user name, such as https://console.example.com")
      .optional()
      .describe("Where people find the console, for links in mails and on pages. Default: no links."),
  })
  .prefault({})
  .describe("The public pages, and who runs the service.");
