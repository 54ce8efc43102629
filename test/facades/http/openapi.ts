import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";

const document = JSON.parse(readFileSync("gen/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(document, "openapi.json");

/** Checks a body against what the published document says of a path, a verb and a status. */
export function expectDescribed(
  path: string,
  verb: "get" | "post",
  status: number | string,
  body: unknown,
  mediaType = "application/json",
): void {
  const steps = ["paths", path, verb, "responses", String(status), "content", mediaType, "schema"];
  const pointer = steps.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  check({ $ref: `openapi.json#/${pointer}` }, body);
}

/** Checks a request's body against the published document. */
export function expectDescribedRequest(path: string, body: unknown): void {
  const escaped = encodeURIComponent(path.replaceAll("/", "~1"));
  check({ $ref: `openapi.json#/paths/${escaped}/post/requestBody/content/application~1json/schema` }, body);
}

function check(schema: object, body: unknown): void {
  const validate = ajv.compile(schema);
  if (!validate(body)) {
    throw new Error(`${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
  }
}
