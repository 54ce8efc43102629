import * as z from "zod";
import { configSchema } from "./schema.ts";

/** The JSON Schema of a configuration file, for editors. Rules between fields are checked only at the start. */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      // An amount may be written with or without quotes.
      if ("coerce" in zodSchema._zod.def && zodSchema._zod.def.coerce) {
        jsonSchema.type = ["string", "number"] as never;
      }
      // Without a bound of ours, zod names the largest safe integer.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
        delete jsonSchema.maximum;
      }
    },
  });
}
