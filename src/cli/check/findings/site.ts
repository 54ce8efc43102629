import { readSite } from "#src/compose/process/site.ts";
import type { Config } from "#src/config/schema.ts";
import { type Finding, toReason } from "../finding.ts";

/** Checks that the logo can be shown. */
export async function checkSite(config: Config): Promise<Finding[]> {
  const part = "site.logo";
  if (config.site.logo === undefined) {
    return [];
  }
  try {
    await readSite(config);
    return [{ part, status: "ok", message: `${config.site.logo} can be shown` }];
  } catch (error) {
    return [{ part, status: "wrong", message: toReason(error) }];
  }
}
