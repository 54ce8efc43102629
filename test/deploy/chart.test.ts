import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parseConfig } from "#src/config/load.ts";
import { peekSecrets } from "#src/config/secrets/secrets.ts";
import { chartDigest, renderings } from "../../scripts/chart.ts";
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

function configOf(name: string) {
  const [{ data } = { data: {} }] = ofKind(name, "ConfigMap");
  return parseConfig((data as Record<string, string>)["tollgate.yaml"] ?? "missing", "tollgate.yaml");
}

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

test.each(Object.keys(renderings))("%s: the program takes the command and the configuration", async (name) => {
  const [{ spec } = { spec: undefined }] = ofKind(name, "StatefulSet");
  const [container] = spec.template.spec.containers;
  const { command, config } = await parseCommand(container.args);
  expect([command, config]).toEqual(["serve", "/etc/tollgate/config/tollgate.yaml"]);
  const { listen } = configOf(name);
  for (const { name: port, containerPort } of container.ports) {
    expect([port, listen[port as "http"]]).toEqual([port, `0.0.0.0:${containerPort}`]);
  }
});

test.each([
  { name: "embedded", replicas: 1 },
  { name: "one-core", replicas: 1 },
  { name: "scaled-out", autoscaled: [2, 8] },
])("$name: pods of one StatefulSet behind one Service, each with a volume", ({ name, replicas, autoscaled }) => {
  const [service] = ofKind(name, "Service");
  const [{ spec } = { spec: undefined }, ...others] = ofKind(name, "StatefulSet");
  expect([others, ofKind(name, "Deployment"), spec.replicas]).toEqual([[], [], replicas]);
  expect(service?.spec.selector).toEqual(spec.selector.matchLabels);
  expect(spec.volumeClaimTemplates[0].metadata.name).toBe("data");
  expect(spec.template.spec.containers[0].volumeMounts).toContainEqual({ name: "data", mountPath: "/data" });
  const scaled = ofKind(name, "HorizontalPodAutoscaler").map((one) => [one.spec.minReplicas, one.spec.maxReplicas]);
  expect(scaled).toEqual(autoscaled === undefined ? [] : [autoscaled]);
});

test("with a certificate gRPC and Connect are open to those who show one, and every address speaks TLS", async () => {
  const { listen } = configOf("with-tls");
  const folder = "/etc/tollgate/tls";
  expect(listen).toMatchObject({
    insecure: false,
    tls: { cert: `${folder}/tls.crt`, key: `${folder}/tls.key`, client_ca: `${folder}/ca.crt` },
  });
  const [{ spec } = { spec: undefined }] = ofKind("with-tls", "StatefulSet");
  const [container] = spec.template.spec.containers;
  expect(container.volumeMounts).toContainEqual({ name: "tls", mountPath: folder, readOnly: true });
  expect(spec.template.spec.volumes).toContainEqual({ name: "tls", secret: { secretName: "tollgate-tls" } });
  expect(container.readinessProbe.httpGet.scheme).toBe("HTTPS");
  const open = (name: string) =>
    ofKind(name, "NetworkPolicy").filter(({ spec }) => JSON.stringify(spec.ingress ?? "").includes("grpc")).length;
  expect([open("scaled-out"), open("with-tls")]).toEqual([0, 1]);
});

test("one core serves models of its own on PostgreSQL, and reaches that, them, and nothing else", async () => {
  const [{ spec } = { spec: undefined }] = ofKind("one-core", "StatefulSet");
  const [{ envFrom }] = spec.template.spec.containers;
  expect(envFrom).toEqual([{ secretRef: { name: "tollgate-secrets" } }]);
  const config = configOf("one-core");
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

test("on CloudNativePG the addresses of the primary and of the standbys are the cluster's own, and its pods are reached", () => {
  const [{ spec } = { spec: undefined }] = ofKind("cloud-native-pg", "StatefulSet");
  const [{ env, envFrom }] = spec.template.spec.containers;
  expect(envFrom).toEqual([{ secretRef: { name: "tollgate-secrets" } }]); // what `env` has wins
  const from = (key: string) => ({ secretKeyRef: { name: "books-app", key } });
  expect(env).toEqual([
    { name: "TOLLGATE_STORAGE_URL", valueFrom: from("uri") },
    { name: "POSTGRESQL_USER", valueFrom: from("username") },
    { name: "POSTGRESQL_PASSWORD", valueFrom: from("password") },
    { name: "POSTGRESQL_DATABASE", valueFrom: from("dbname") },
    {
      name: "TOLLGATE_STORAGE_READ_URL",
      value: "postgresql://$(POSTGRESQL_USER):$(POSTGRESQL_PASSWORD)@books-ro:5432/$(POSTGRESQL_DATABASE)",
    },
  ]);
  const reached = ofKind("cloud-native-pg", "NetworkPolicy").flatMap((policy) => policy.spec.egress ?? []);
  expect(reached).toContainEqual({
    to: [{ podSelector: { matchLabels: { "cnpg.io/cluster": "books" } } }],
    ports: [{ port: 5432, protocol: "TCP" }],
  });
});

const manifests = (
  await Promise.all(["serve", "network-policy"].map((name) => readYaml<Resource>(`kubernetes/${name}.yaml`)))
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
