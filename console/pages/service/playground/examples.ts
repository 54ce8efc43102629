import { type Choice, surfaces } from "../../../parts/requests/surfaces.ts";

/** One way to send the same request. */
export interface Example {
  readonly name: string;
  readonly text: string;
}

/** The request as raw HTTP, as curl, and with the SDKs of its surface. The key stays a placeholder. */
export function toExamples(choice: Choice, publicUrl: string): readonly Example[] {
  const surface = surfaces[choice.surface];
  const body = JSON.stringify(surface.body(choice), null, 2);
  const headers = Object.entries({ "content-type": "application/json", ...surface.headers("$TOLLGATE_KEY") });
  const raw = [`POST ${surface.path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), "", body];
  const curl = [
    `curl ${publicUrl}${surface.path}${choice.isStreamed ? " --no-buffer" : ""}`,
    ...headers.map(([name, value]) => `  -H "${name}: ${value}"`),
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join(" \\\n");
  return [
    { name: "Raw request", text: raw.join("\n") },
    { name: "curl", text: curl },
    { name: "Python", text: toPython(choice, body, publicUrl) },
    { name: "JavaScript", text: toJavaScript(choice, body, publicUrl) },
  ];
}

function toPython(choice: Choice, body: string, publicUrl: string): string {
  const literal = body
    .replaceAll(/: true\b/g, ": True")
    .replaceAll(/: false\b/g, ": False")
    .replaceAll("\n", "\n    ");
  return choice.surface === "chat"
    ? `from openai import OpenAI

client = OpenAI(base_url="${publicUrl}/v1", api_key=TOLLGATE_KEY)
answer = client.chat.completions.create(
    **${literal}
)`
    : `from anthropic import Anthropic

client = Anthropic(base_url="${publicUrl}", api_key=TOLLGATE_KEY)
answer = client.messages.create(
    **${literal}
)`;
}

function toJavaScript({ surface, isStreamed }: Choice, body: string, publicUrl: string): string {
  const [name, module, base, call] =
    surface === "chat"
      ? ["OpenAI", "openai", `${publicUrl}/v1`, "chat.completions.create"]
      : ["Anthropic", "@anthropic-ai/sdk", publicUrl, "messages.create"];
  const rest = isStreamed
    ? `for await (const piece of answer) {
  console.log(JSON.stringify(piece));
}`
    : "console.log(JSON.stringify(answer));";
  return `import ${name} from "${module}";

const client = new ${name}({ baseURL: "${base}", apiKey: process.env.TOLLGATE_KEY });
const answer = await client.${call}(${body});
${rest}`;
}
