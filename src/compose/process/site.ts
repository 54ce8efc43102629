import { readFile } from "node:fs/promises";
import { ConfigError } from "#src/config/config-error.ts";
import type { Config } from "#src/config/schema.ts";
import type { SiteFacts } from "../../../facades/http/site/facts.ts";

/** A logo stands in every page. */
const longestLogo = 32_768;
const types = { png: "image/png", svg: "image/svg+xml" } as const;

/** What the public pages tell, with the logo read. Throws ConfigError. */
export async function readSite({ site }: Pick<Config, "site">): Promise<SiteFacts> {
  const { name, logo, colour, terms, privacy, support, address } = site;
  return {
    name,
    colour,
    terms,
    privacy,
    support,
    address,
    logo: logo === undefined ? undefined : await readLogo(logo),
  };
}

async function readLogo(file: string): Promise<string> {
  const type = types[file.toLowerCase().split(".").at(-1) as keyof typeof types];
  if (type === undefined) {
    throw new ConfigError(`site.logo: ${file} must end with .svg or .png`);
  }
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`site.logo: ${file} cannot be read: ${error.code ?? error}`);
  });
  if (bytes.length > longestLogo) {
    throw new ConfigError(`site.logo: ${file} has ${bytes.length} bytes; ${longestLogo} are the most`);
  }
  return `data:${type};base64,${bytes.toString("base64")}`;
}
