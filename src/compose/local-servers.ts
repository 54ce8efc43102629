/** Where inference servers usually listen on one's own machine. */
const usual = [
  { name: "vLLM", url: "http://127.0.0.1:8000" },
  { name: "llama-server", url: "http://127.0.0.1:8080" },
  { name: "SGLang", url: "http://127.0.0.1:30000" },
  { name: "Ollama", url: "http://127.0.0.1:11434" },
];

/** Long enough for a server on this machine, short enough not to be felt at the start. */
const timeoutMs = 300;

/** One line for each inference server that already listens on a usual local port, saying how to use it. */
export async function localServers(): Promise<string[]> {
  const found = await Promise.all(usual.map(async (server) => ((await listsModels(server.url)) ? server : undefined)));
  return found.flatMap((server) =>
    server === undefined
      ? []
      : [`${server.name} seems to listen on ${server.url}. Serve it with: npm start -- --server ${server.url}`],
  );
}

async function listsModels(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/models`, { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // nothing there, or nothing that we know
  }
}
