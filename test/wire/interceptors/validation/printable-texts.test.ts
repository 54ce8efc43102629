import { readdir } from "node:fs/promises";
import { type DescField, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { rules } from "#gen/tollgate/validate/v1/validate_pb.js";

const generated = new URL("../../../../gen/tollgate/", import.meta.url);

/** They name something that was stored before. */
const lookups = ["tollgate.accounts.v1.TopUpRequest.undoes", "tollgate.payments.v1.RefundPaymentRequest.reference"];

/** Every service of the contract, as its generated files have them: a new one is among them without a word here. */
async function readServices(): Promise<readonly DescService[]> {
  const files = (await readdir(generated, { recursive: true })).filter((file) => file.endsWith("_service_pb.js"));
  const modules = await Promise.all(files.map((file) => import(new URL(file, generated).href)));
  return modules.flatMap((module: object) =>
    Object.values(module).filter((value): value is DescService => value?.kind === "service"),
  );
}

const has = (field: DescField, rule: "storable" | "printable") =>
  hasOption(field, rules) && getOption(field, rules)[rule];

test("every text that is stored for others to see is one that they see as it is", async () => {
  const methods = (await readServices()).flatMap((service) => service.methods);
  const stored = methods
    .filter(({ name }) => !/^(List|Stream|Get|Find|Watch)/.test(name))
    .flatMap(({ input }) => input.fields)
    .filter((field) => has(field, "storable") && field.name !== "request_id");
  const named = (fields: readonly DescField[]) => [
    ...new Set(fields.map(({ parent, name }) => `${parent.typeName}.${name}`)),
  ];
  expect(stored.length).toBeGreaterThan(10);
  expect(named(stored.filter((field) => !has(field, "printable"))).sort()).toEqual(lookups);
});
