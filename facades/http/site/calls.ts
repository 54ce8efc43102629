import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { isEmbedding } from "./model-facts.ts";

/** A call that works when it is pasted, once API_KEY is set. */
export interface Call {
  readonly language: string;
  readonly code: string;
}

const messages = [{ role: "user", content: "Hello" }];
const input = "Hello";

/** The same call in a shell, in Python and in TypeScript. */
export function callsOf(model: Model, baseUrl: string): Call[] {
  const path = isEmbedding(model) ? "embeddings" : "chat/completions";
  const body = JSON.stringify({ model: model.id, ...(isEmbedding(model) ? { input } : { messages }) });
  const id = JSON.stringify(model.id);
  const url = JSON.stringify(`${baseUrl}/v1`);
  return [
    {
      language: "curl",
      code: `curl ${quote(`${baseUrl}/v1/${path}`)} \\
  -H "authorization: Bearer $API_KEY" \\
  -H 'content-type: application/json' \\
  -d ${quote(body)}`,
    },
    {
      language: "Python",
      code: `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url=${url}, api_key=os.environ["API_KEY"])
${
  isEmbedding(model)
    ? `answer = client.embeddings.create(model=${id}, input=${JSON.stringify(input)})
print(answer.data[0].embedding)`
    : `answer = client.chat.completions.create(
    model=${id},
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`
}`,
    },
    {
      language: "TypeScript",
      code: `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${url}, apiKey: process.env.API_KEY });
${
  isEmbedding(model)
    ? `const answer = await client.embeddings.create({ model: ${id}, input: ${JSON.stringify(input)} });
console.log(answer.data[0]?.embedding);`
    : `const answer = await client.chat.completions.create({
  model: ${id},
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0]?.message.content);`
}`,
    },
  ];
}

/** A text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
