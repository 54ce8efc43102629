import { join } from "node:path";
import { logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { installPython, type PythonPackages } from "../../python.ts";

const version = "0.32.2";
const packages: PythonPackages = { name: "mlx", packages: [`mlx-lm==${version}`, "mlx[cpu]==0.32.4"] };

/** `mlx_lm.server`, usually on a Mac; MLX computes on other processors, too. */
export const mlx: RealEngine = {
  title: "mlx_lm.server",
  version,
  engine: "openai",
  async install() {
    await installPython(packages);
  },
  async start(_kind, port, models) {
    const bin = await installPython(packages);
    return {
      command: [
        ...[join(bin, "mlx_lm.server"), "--model", models.folder("chat")],
        ...["--host", "127.0.0.1", "--port", String(port), "--decode-concurrency", "4"],
      ],
      env: { HF_HUB_OFFLINE: "1" },
      log: logOf("mlx-chat"),
      readyPath: "/health",
      readySeconds: 120,
    };
  },
  servedName: (kind, models) => models.folder(kind),
  cannot: { embeddings: "it serves none" },
};
