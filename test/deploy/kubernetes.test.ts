import { expect, test } from "@jest/globals";
import { loadConfig } from "#src/config/load.ts";
import { environmentNames, listDeploy, parseCommand, readDeploy, readYaml, root } from "./files.ts";

// No cluster runs here: the manifests are held against Kubernetes' own schemas and against the program.

interface Container {
  name: string;
  image: string;
  args: string[];
  ports: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string }[];
  envFrom?: { secretRef: { name: string } }[];
  startupProbe: Probe;
  readinessProbe: Probe;
  livenessProbe: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  securityContext: Record<string, unknown>;
}

interface Probe {
  httpGet: { path: string; port: string };
}

interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a shape of its own, which the schema checks
  spec: any;
  stringData?: Record<string, string>;
}

const manifests = (await listDeploy("kubernetes")).filter(
  (file) => file.endsWith(".yaml") && !file.includes("/config/") && !file.endsWith("kustomization.yaml"),
);
const resources = (await Promise.all(manifests.map((file) => readYaml<Resource>(file)))).flat();
const ofKind = (...kinds: string[]) => resources.filter(({ kind }) => kinds.includes(kind));
const workloads = ofKind("Deployment", "StatefulSet");
const podOf = ({ spec }: Resource) => spec.template.spec;
const containerOf = (workload: Resource): Container => podOf(workload).containers[0];
const ours = workloads.filter((workload) => containerOf(workload).image === "tollgate");
const config = await loadConfig(`${root}/deploy/kubernetes/config/tollgate.yaml`);

test.each(resources.map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))("%s is valid", async (_, one) => {
  const group = (await import(`kubernetes-models/${one.apiVersion}/${one.kind}`)) as Record<
    string,
    new (
      data: object,
    ) => { validate(): void }
  >;
  const Model = group[one.kind];
  if (Model === undefined) {
    throw new Error(`no schema of ${one.kind}`);
  }
  expect(() => new Model(one).validate()).not.toThrow();
});

test("the schemas do refuse what is wrong", async () => {
  const { Service } = await import("kubernetes-models/v1/Service");
  const wrong = { metadata: { name: "x" }, spec: { ports: [{ port: "eighty" }] } } as never;
  expect(() => new Service(wrong).validate()).toThrow();
});

test("the kustomization names every manifest but the example of secrets", async () => {
  const [kustomization] = await readYaml<{
    resources: string[];
    configMapGenerator: { name: string; files: string[] }[];
  }>("kubernetes/kustomization.yaml");
  const named = manifests.map((file) => file.replace("kubernetes/", "")).filter((file) => !file.includes("example"));
  expect(kustomization?.resources.toSorted()).toEqual(named);
  expect(kustomization?.configMapGenerator).toEqual([{ name: "tollgate-config", files: ["config/tollgate.yaml"] }]);
});

test.each(ours.map((one) => [containerOf(one).name, one] as const))(
  "%s runs a command that exists",
  async (name, one) => {
    const { args, ports, envFrom = [], volumeMounts } = containerOf(one);
    const command = await parseCommand(args);
    expect(command).toMatchObject({ command: name, config: "/etc/tollgate/config/tollgate.yaml" });
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain("/etc/tollgate/config");
    const portOf = (field: string) => Number(config.listen[field as "http"].split(":").at(-1));
    for (const port of ports) {
      expect([port.name, portOf(port.name)]).toEqual([port.name, port.containerPort]);
    }
    for (const { secretRef } of envFrom) {
      const secret = ofKind("Secret").find(({ metadata }) => metadata.name === secretRef.name);
      const names = await environmentNames();
      expect(Object.keys(secret?.stringData ?? {}).filter((key) => !names.has(key))).toEqual([]);
      expect(Object.keys(secret?.stringData ?? {})).toContain("TOLLGATE_OPERATOR_TOKEN");
    }
  },
);

test.each(workloads.map((one) => [containerOf(one).name, one] as const))(
  "%s is probed, guarded and bounded",
  (_, one) => {
    const container = containerOf(one);
    const pod = podOf(one);
    const names = container.ports.map(({ name }) => name);
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
    const paths = ours.includes(one) ? ["/readyz", "/readyz", "/livez"] : ["/health", "/health", "/health"];
    expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(paths);
    for (const { httpGet } of probes) {
      expect(names).toContain(httpGet.port);
    }
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(one.spec.template.metadata.labels).toMatchObject(one.spec.selector.matchLabels);
  },
);

test.each(ours.map((one) => [containerOf(one).name, one] as const))("%s may drain before it is killed", (_, one) => {
  const pause = containerOf(one).lifecycle?.preStop.sleep.seconds ?? 0;
  expect(podOf(one).terminationGracePeriodSeconds).toBeGreaterThan(pause + config.shutdown.grace_s + 1);
});

test("budgets, autoscalers, services and policies point at something", () => {
  const apps = workloads.map((one) => one.spec.template.metadata.labels.app as string);
  const names = workloads.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  for (const { spec } of ofKind("PodDisruptionBudget")) {
    expect(apps).toContain(spec.selector.matchLabels.app);
  }
  for (const { spec } of ofKind("Service")) {
    expect(apps).toContain(spec.selector.app);
  }
  for (const { spec } of ofKind("HorizontalPodAutoscaler")) {
    const { kind, name } = spec.scaleTargetRef;
    expect(names).toContain(`${kind} ${name}`);
    const scaled = workloads.find((one) => one.kind === kind && one.metadata.name === name);
    expect(scaled?.spec.replicas).toBeUndefined(); // applying it again would take back what the autoscaler has set
  }
  for (const { spec } of ofKind("StatefulSet")) {
    expect(ofKind("Service").map(({ metadata }) => metadata.name)).toContain(spec.serviceName);
  }
  const targets = ofKind("NetworkPolicy").flatMap(({ spec }) => spec.podSelector.matchLabels?.app ?? []);
  expect(targets.filter((app) => !apps.includes(app))).toEqual([]);
  for (const { spec } of ofKind("NetworkPolicy")) {
    const app = spec.podSelector.matchLabels?.app;
    const workload = workloads.find((one) => one.spec.template.metadata.labels.app === app);
    const ports = workload === undefined ? undefined : containerOf(workload).ports.map(({ name }) => name);
    const wanted = (spec.ingress ?? []).flatMap((rule: { ports: { port: string }[] }) => rule.ports);
    for (const { port } of wanted) {
      if (ports !== undefined) {
        expect(ports).toContain(port);
      }
    }
  }
});

/** What the egress policies of a workload allow, as destinations with their ports. */
function destinations(app: string): string[] {
  const policies = ofKind("NetworkPolicy").filter(
    ({ spec }) => spec.policyTypes.includes("Egress") && spec.podSelector.matchLabels?.app === app,
  );
  type Rule = { to: Record<string, { matchLabels: Record<string, string> }>[]; ports: { port: string | number }[] };
  return policies
    .flatMap(({ spec }) => spec.egress as Rule[])
    .flatMap(({ to, ports }) =>
      to.flatMap((one) =>
        Object.values(one).flatMap(({ matchLabels }) =>
          ports.map(({ port }) => `${Object.values(matchLabels)}:${port}`),
        ),
      ),
    )
    .toSorted();
}

test("it reaches its servers and stores, names and traces, and nothing else", () => {
  const allowed = [
    "kube-system:53",
    "kube-system:53",
    "monitoring:4318",
    "databases:5432",
    "databases:6379",
    "vllm:http",
  ];
  expect(destinations("tollgate")).toEqual(allowed.toSorted());
});

test("no proxy is trusted until the operator names it", () => {
  expect(config.listen.trusted_proxies).toEqual([]);
});

test("the model's servers are the pods of the inference server", () => {
  const vllm = workloads.find(({ metadata }) => metadata.name === "vllm") as Resource;
  const [model] = config.models;
  const { port } = new URL(model?.servers[0]?.url ?? "");
  expect(model?.servers).toMatchObject([{ url: `http://${vllm.spec.serviceName}:${port}`, resolve: true }]);
  const service = resources.find(({ kind, metadata }) => kind === "Service" && metadata.name === vllm.spec.serviceName);
  expect(service?.spec).toMatchObject({ clusterIP: "None", ports: [expect.objectContaining({ port: Number(port) })] });
  const served = containerOf(vllm).args.find((arg) => arg.startsWith("--served-model-name="));
  expect(served).toBe(`--served-model-name=${model?.servers[0]?.model}`);
  expect(containerOf(vllm).args).toContain(`--max-model-len=${model?.context_length}`);
});

test("the example of secrets holds none", async () => {
  const example = await readDeploy("kubernetes/secrets.example.yaml");
  expect(example.match(/replace-me/g)?.length).toBe(3);
});
