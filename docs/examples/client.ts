// An internal service that generates on behalf of an account:
// node docs/examples/client.ts http://127.0.0.1:50051 SERVICE_TOKEN ACCOUNT MODEL
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";

const [baseUrl = "", token = "", account = "", model = ""] = process.argv.slice(2);
const inference = createClient(InferenceService, createGrpcTransport({ baseUrl }));

try {
  const answer = inference.generate(
    {
      model,
      prompt: { case: "conversation", value: { messages: [{ role: Role.USER, text: "Hello" }] } },
      maxOutputTokens: 20,
    },
    { headers: { authorization: `Bearer ${token}`, "x-tollgate-account": account }, timeoutMs: 30_000 },
  );
  for await (const { events } of answer) {
    for (const { event } of events) {
      if (event.case === "text") {
        process.stdout.write(event.value);
      }
      if (event.case === "finished") {
        console.log(`\n${event.value.usage?.outputTokens} tokens`);
      }
    }
  }
} catch (error) {
  const failed = ConnectError.from(error);
  const [detail] = failed.findDetails(ErrorDetailSchema);
  console.error(Code[failed.code], detail ? Reason[detail.reason] : "", failed.rawMessage);
  process.exitCode = 1;
}
