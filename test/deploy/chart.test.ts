import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { chartDigest, renderings } from "../../scripts/chart.ts";
import { parseConfig } from "../../src/config/load.ts";
import { peekSecrets } from "../../src/config/secrets.ts";
import { parseCommand, readDeploy, readYaml, root } from "./files.ts";

// Helm is not needed here: the chart is held as it was last rendered, by `npm run chart`, which lints it, too.

interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a shape of its own, which the schema checks
  spec: any;
  data?: Record<string, string>;
}

const rendered = new Map(
  await Promise.all(
    Object.keys(renderings).map(async (name) => {
      const documents = await readYaml<Resource | null>(`helm/rendered/${name}.yaml`);
      return [name, documents.filter((one) => one !== null)] as const;
    }),
  ),
);
const all = [...rendered].flatMap(([name, resources]) =>
  resources.map((one) => [name, `${one.kind} ${one.metadata.name}`, one] as const),
);
const ofKind = (name: string, kind: string) => rendered.get(name)?.filter((one) => one.kind === kind) ?? [];

test.each(Object.keys(renderings))("%s is rendered from the chart as it is: npm run chart", async (name) => {
  expect((await readDeploy(`helm/rendered/${name}.yaml`)).split("\n", 1)).toEqual([
    `# Rendered from deploy/helm/tollgate, ${chartDigest()}: npm run chart`,
  ]);
});

test.each(all.filter(([, , { kind }]) => kind !== "ScaledObject"))("%s: %s is valid", async (_name, _what, one) => {
  const group = await import(`kubernetes-models/${one.apiVersion}/${one.kind}`);
  expect(() => new group[one.kind](one).validate()).not.toThrow();
});

test("inference servers are scaled by what waits for their model, a metric that exists", async () => {
  const [scaled] = ofKind("scaled-out", "ScaledObject");
  expect(scaled).toMatchObject({ apiVersion: "keda.sh/v1alpha1", spec: { maxReplicaCount: 4 } });
  const [trigger] = scaled?.spec.triggers ?? [];
  expect(trigger.metadata.query).toBe('sum(tollgate_queue_length{model="qwen/qwen3-8b"})');
  expect(await readFile(join(root, "docs", "observability.md"), "utf8")).toContain("`tollgate_queue_length`");
});

test("the chart's versions are the program's", async () => {
  const [chart] = await readYaml<{ version: string; appVersion: string }>("helm/tollgate/Chart.yaml");
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect([chart?.version, chart?.appVersion]).toEqual([version, version]);
});

test.each([
  ["embedded", "serve"],
  ["one-core", "serve"],
  ["scaled-out", "core"],
  ["scaled-out", "facade"],
])("%s: the program takes the command and the configuration of %s", async (name, container) => {
  const workloads = [...ofKind(name, "StatefulSet"), ...ofKind(name, "Deployment")];
  const { args } = workloads.map(({ spec }) => spec.template.spec.containers[0]).find((one) => one.name === container);
  const { command, config } = await parseCommand(args);
  expect(command).toBe(container);
  const file = String(config).replace("/etc/tollgate/config/", "");
  const [{ data } = { data: {} }] = ofKind(name, "ConfigMap");
  const { listen } = parseConfig((data as Record<string, string>)[file] ?? "missing", file);
  expect(listen.admin).toBe("0.0.0.0:9464");
});

test.each(["embedded", "one-core"])("%s, one pod keeps its data on a volume", (name) => {
  const [{ spec } = { spec: undefined }] = ofKind(name, "StatefulSet");
  expect(ofKind(name, "Deployment")).toEqual([]);
  expect(spec.replicas).toBe(1);
  expect(spec.volumeClaimTemplates[0].metadata.name).toBe("data");
  expect(spec.template.spec.containers[0].volumeMounts).toContainEqual({ name: "data", mountPath: "/data" });
});

test("one core serves models of its own on PostgreSQL, and reaches that, them, and nothing else", async () => {
  const [{ spec } = { spec: undefined }] = ofKind("one-core", "StatefulSet");
  const [{ envFrom }] = spec.template.spec.containers;
  expect(envFrom).toEqual([{ secretRef: { name: "tollgate-core" } }]);
  const [{ data } = { data: {} }] = ofKind("one-core", "ConfigMap");
  const config = parseConfig((data as Record<string, string>)["tollgate.yaml"] ?? "missing", "tollgate.yaml");
  expect(config.models.map(({ id }) => id)).toEqual(["qwen/qwen3-8b"]);
  const TOLLGATE_STORAGE_URL = "postgresql://postgresql.databases.svc:5432/tollgate";
  await expect(peekSecrets(config, { TOLLGATE_STORAGE_URL })).rejects.toThrow(/OPERATOR_TOKEN(.|\n)*KEY_PEPPER/);
  const secrets = { TOLLGATE_STORAGE_URL, TOLLGATE_OPERATOR_TOKEN: "token", TOLLGATE_KEY_PEPPER: "pepper" };
  expect(await peekSecrets(config, secrets)).toMatchObject({
    storageUrl: TOLLGATE_STORAGE_URL,
    rateLimitUrl: "memory:",
  });
  const reached = ofKind("one-core", "NetworkPolicy").find(
    ({ metadata }) => metadata.name === "tollgate-to-servers-and-stores",
  );
  expect(reached?.spec.egress).toEqual([
    { to: [{ podSelector: { matchLabels: { app: "vllm" } } }], ports: [{ port: "http", protocol: "TCP" }] },
    {
      to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "databases" } } }],
      ports: [{ port: 5432, protocol: "TCP" }],
    },
  ]);
});

const manifests = (
  await Promise.all(["core", "facade", "network-policy"].map((name) => readYaml<Resource>(`kubernetes/${name}.yaml`)))
).flat();

test.each(
  manifests
    .filter(({ metadata }) => metadata.name !== "closed")
    .map((one) => [`${one.kind} ${one.metadata.name}`, one] as const),
)("%s is the same from the chart as from kustomize", (_, { kind, metadata, spec }) => {
  const candidates = ofKind("scaled-out", kind);
  const same =
    kind === "NetworkPolicy"
      ? candidates.find((one) => JSON.stringify(essence(one.spec)) === JSON.stringify(essence(spec)))
      : candidates.find((one) => one.metadata.name === metadata.name);
  expect(essence(same?.spec)).toEqual(essence(spec));
});

/** Without what differs on purpose: kustomize sets the image, and renames a ConfigMap that changes where the chart notes its sum. */
function essence(spec: unknown): unknown {
  return JSON.parse(
    JSON.stringify(spec ?? null, (name, value) => (name === "image" || name === "checksum/config" ? undefined : value)),
  );
}
