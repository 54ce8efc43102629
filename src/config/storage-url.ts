import { ConfigError } from "./config-error.ts";

/**
 * Adds the schema to the address of a server, as a setting that its sessions begin with. Throws ConfigError for a file of
 * SQLite.
 */
export function withSchema(url: string, schema: string | undefined): string {
  if (schema === undefined) {
    return url;
  }
  if (url.startsWith("sqlite:")) {
    throw new ConfigError("storage.schema: only PostgreSQL has schemas; a file of SQLite is of one service");
  }
  const start = url.includes("?") ? url.indexOf("?") : url.length;
  const parameters = new URLSearchParams(url.slice(start));
  parameters.set("options", `${parameters.get("options") ?? ""} -c search_path=${schema}`.trim());
  return `${url.slice(0, start)}?${parameters.toString().replaceAll("+", "%20")}`;
}
