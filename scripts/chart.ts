// Lints the Helm chart and renders it for each of its modes, into deploy/helm/rendered: `npm run chart`. The tests hold what is
// rendered against Kubernetes' schemas, the program, and the manifests for kustomize. Takes helm from TOLLGATE_HELM or the path,
// else builds it with Go, which takes minutes once.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = join(root, "deploy", "helm", "tollgate");
const helmVersion = "v3.22.0";
const engine = { name: "vllm", kind: "StatefulSet", model: "qwen/qwen3-8b", maxReplicas: 4, waiting: 8 };

/** The renderings, and the values of each. */
export const renderings: Readonly<Record<string, readonly string[]>> = {
  embedded: [],
  "one-core": ["--values", join(folder, "values-one-core.yaml")],
  "scaled-out": [
    ...["--values", join(folder, "values-scaled-out.yaml")],
    ...["--set", "keda.enabled=true", "--set-json", `keda.engines=[${JSON.stringify(engine)}]`],
  ],
  "cloud-native-pg": [
    ...["--values", join(folder, "values-scaled-out.yaml")],
    ...["--set", "cloudNativePg.cluster=books", "--set", "cloudNativePg.readStandbys=true"],
  ],
  "with-tls": ["--values", join(folder, "values-scaled-out.yaml"), "--set", "tlsSecretName=tollgate-tls"],
};

/** A digest of the chart's files and of the values it is rendered with: tells whether a rendering is fresh, without Helm. */
export function chartDigest(): string {
  const hash = createHash("sha256");
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    const file = join(folder, path);
    if (path.includes(".")) {
      hash.update(`${path}\n${readFileSync(file, "utf8")}\n`);
    }
  }
  return hash.update(JSON.stringify(engine)).digest("hex");
}

function findHelm(): string {
  const named = process.env.TOLLGATE_HELM ?? "helm";
  if (spawnSync(named, ["version"]).status === 0) {
    return named;
  }
  const bin = join(root, "node_modules", ".cache", "helm");
  if (!existsSync(join(bin, "helm"))) {
    mkdirSync(bin, { recursive: true });
    const env = { ...process.env, GOBIN: bin, CGO_ENABLED: "0" };
    execFileSync("go", ["install", `helm.sh/helm/v3/cmd/helm@${helmVersion}`], { env, stdio: "inherit" });
  }
  return join(bin, "helm");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const helm = findHelm();
  for (const [name, values] of Object.entries(renderings)) {
    execFileSync(helm, ["lint", "--strict", folder, ...values], { stdio: "inherit" });
    const where = ["--namespace", "tollgate", "--kube-version", "1.31.0"];
    const text = execFileSync(helm, ["template", "tollgate", folder, ...where, ...values], { encoding: "utf8" });
    const head = `# Rendered from deploy/helm/tollgate, ${chartDigest()}: npm run chart\n`;
    writeFileSync(join(root, "deploy", "helm", "rendered", `${name}.yaml`), head + text.replace(/[ \t]+$/gm, ""));
  }
}
