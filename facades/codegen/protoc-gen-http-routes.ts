// Writes one table of HTTP routes for each service with google.api.http methods.
import type { DescService } from "@bufbuild/protobuf";
import {
  createEcmaScriptPlugin,
  type GeneratedFile,
  runNodeJs,
  type Schema,
  safeIdentifier,
} from "@bufbuild/protoplugin";
import { Options } from "./options.ts";

runNodeJs(
  createEcmaScriptPlugin({
    name: "protoc-gen-http-routes",
    version: "v1",
    generateTs: () => {
      throw new Error("set target=js+dts: gen/ holds JavaScript and declarations");
    },
    generateJs: (schema) => generate(schema, "js"),
    generateDts: (schema) => generate(schema, "d.ts"),
  }),
);

function generate(schema: Schema, target: "js" | "d.ts"): void {
  const options = new Options(schema);
  for (const file of schema.files) {
    const services = file.services.filter((service) => options.endpoints(service).length > 0);
    if (services.length === 0) {
      continue;
    }
    const f = schema.generateFile(`${file.name}_http.${target}`);
    f.preamble(file);
    for (const service of services) {
      (target === "js" ? printTable : printType)(f, options, service);
    }
  }
}

function printTable(f: GeneratedFile, options: Options, service: DescService): void {
  const desc = f.importSchema(service);
  f.print(f.jsDoc(service));
  f.print(f.export("const", tableName(service)), " = {");
  for (const { method, rule } of options.endpoints(service)) {
    f.print(
      `  ${method.localName}: { verb: ${JSON.stringify(rule.verb)}, path: ${JSON.stringify(rule.path)}, method: `,
      desc,
      `.method.${method.localName} },`,
    );
  }
  f.print("};");
}

function printType(f: GeneratedFile, options: Options, service: DescService): void {
  const desc = f.importSchema(service, true);
  f.print(f.jsDoc(service));
  f.print(f.export("declare const", tableName(service)), ": {");
  for (const { method, rule } of options.endpoints(service)) {
    f.print(f.jsDoc(method, "  "));
    f.print(`  readonly ${method.localName}: {`);
    f.print(`    readonly verb: ${JSON.stringify(rule.verb)};`);
    f.print(`    readonly path: ${JSON.stringify(rule.path)};`);
    f.print("    readonly method: (typeof ", desc, `)["method"]["${method.localName}"];`);
    f.print("  };");
  }
  f.print("};");
}

function tableName(service: DescService): string {
  return safeIdentifier(`${service.name.charAt(0).toLowerCase()}${service.name.slice(1)}Routes`);
}
