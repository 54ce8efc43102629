import { type StreamEvent, StreamEventSchema } from "#gen/tollgate/messages/v1/stream_event_pb.js";
import { jsonEncoder } from "../../http/json/encoder.ts";

const json = jsonEncoder(StreamEventSchema);
const names = new Map(StreamEventSchema.fields.map(({ localName, name }) => [localName, name]));

/** A server-sent event. Clients rely on its name and ignore data without one. */
export function eventText(event: StreamEvent["event"]): string {
  return `event: ${names.get(event.case ?? "")}\ndata: ${json({ $typeName: "tollgate.messages.v1.StreamEvent", event })}\n\n`;
}
