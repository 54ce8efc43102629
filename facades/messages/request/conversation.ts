import {
  type Conversation,
  Role as CoreRole,
  type Message,
  type ToolCall,
} from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { CountTokensRequest } from "#gen/tollgate/messages/v1/count_tokens_pb.js";
import type { CreateMessageRequest } from "#gen/tollgate/messages/v1/create_message_pb.js";
import {
  ClearAt,
  type ContentBlockParam,
  type MessageContent,
  type MessageParam,
  Role,
  type ToolResultBlockParam,
  type ToolUseBlockParam,
} from "#gen/tollgate/messages/v1/message_param_pb.js";
import { invalidField } from "../../http/request/error.ts";
import { toSystem } from "./system.ts";
import { toTools } from "./tools.ts";

/** Translates the model's input. Throws RequestError with the field's path. */
export function toConversation(request: CreateMessageRequest | CountTokensRequest): Conversation {
  const turns: Message[] = [];
  const system = toSystem(request.system);
  if (system !== "") {
    turns.push(turn(CoreRole.SYSTEM, system));
  }
  const calls = new Set<string>();
  const lastUser = request.messages.findLastIndex(({ role }) => role === Role.USER);
  for (const [i, message] of request.messages.entries()) {
    if (message.clearAt === ClearAt.NEXT_USER_MESSAGE && i < lastUser) {
      continue;
    }
    refuseOrphans(message, `messages[${i}].content`, calls);
    for (const next of toTurns(message, `messages[${i}]`)) {
      add(turns, next);
    }
  }
  if (turns.every(({ role }) => role === CoreRole.SYSTEM)) {
    throw invalidField("messages", "must have a turn with content");
  }
  return {
    $typeName: "tollgate.inference.v1.Conversation",
    messages: turns,
    ...toTools(request),
  };
}

/** Refuses results of calls that no earlier turn made, like the original service. Adds this turn's calls to `calls`. */
function refuseOrphans({ role, content }: MessageParam, path: string, calls: Set<string>): void {
  for (const [i, block] of toBlocks(content).entries()) {
    if (block.case === "toolUse") {
      calls.add(block.value.id);
    } else if (role === Role.USER && block.case === "toolResult" && !calls.has(block.value.toolUseId)) {
      throw invalidField(`${path}[${i}].tool_use_id`, "must be the id of a tool_use block in an earlier turn");
    }
  }
}

/** Adds a turn. Consecutive turns of one role become one, since chat templates want roles to alternate. */
function add(turns: Message[], next: Message): void {
  const last = turns.at(-1);
  if (last?.role === CoreRole.USER && next.role === CoreRole.USER) {
    last.text = joined([last.text, next.text]);
  } else if (last?.role === CoreRole.ASSISTANT && next.role === CoreRole.ASSISTANT) {
    last.text += next.text;
    last.reasoning += next.reasoning;
    last.toolCalls.push(...next.toolCalls);
  } else {
    turns.push(next);
  }
}

function toTurns({ role, content }: MessageParam, path: string): Message[] {
  const blocks = toBlocks(content);
  const at = `${path}.content`;
  if (content === undefined && role !== Role.SYSTEM) {
    throw invalidField(at, "is required");
  }
  switch (role) {
    case Role.USER:
      return userTurns(blocks, at);
    case Role.ASSISTANT:
      return assistantTurn(blocks, at);
    case Role.SYSTEM:
      return systemTurn(blocks, at);
    case Role.UNSPECIFIED:
      throw invalidField(`${path}.role`, "must be user, assistant or system");
  }
}

/**
 * The turns of a user's blocks. Tool results come first: they answer the previous turn, whatever else the user says.
 */
function userTurns(blocks: readonly Block[], path: string): Message[] {
  const turns: Message[] = [];
  const texts: string[] = [];
  for (const [i, block] of blocks.entries()) {
    if (block.case === "toolResult") {
      turns.push(toolTurn(block.value, `${path}[${i}]`));
    } else if (block.case === "text") {
      texts.push(block.value.text);
    } else {
      refuse(block, `${path}[${i}]`);
    }
  }
  const said = joined(texts);
  if (said !== "" || turns.length === 0) {
    turns.push(turn(CoreRole.USER, said));
  }
  return turns;
}

/** The turn of an assistant's blocks, which are pieces of one text: nothing is put between them. */
function assistantTurn(blocks: readonly Block[], path: string): Message[] {
  const said = turn(CoreRole.ASSISTANT, "");
  for (const [i, block] of blocks.entries()) {
    if (block.case === "text") {
      said.text += block.value.text;
    } else if (block.case === "compaction") {
      said.text += block.value.content;
    } else if (block.case === "thinking") {
      said.reasoning += block.value.thinking;
    } else if (block.case === "toolUse") {
      said.toolCalls.push(toolCall(block.value, `${path}[${i}]`));
    } else {
      refuse(block, `${path}[${i}]`);
    }
  }
  const empty = said.text === "" && said.reasoning === "" && said.toolCalls.length === 0;
  return empty ? [] : [said];
}

/** The turn of a system's blocks. Changes of the tools are read apart from the turns, and are no text. */
function systemTurn(blocks: readonly Block[], path: string): Message[] {
  const isChange = ({ case: kind }: Block) => kind === "toolAddition" || kind === "toolRemoval";
  const text = joinText(
    blocks.map((block) => (isChange(block) ? { case: undefined } : block)),
    path,
  );
  return text === "" ? [] : [turn(CoreRole.SYSTEM, text)];
}

/** The turn of a tool's result. A failed call is marked in the text, since no chat template knows failed results. */
function toolTurn({ toolUseId, content, isError }: ToolResultBlockParam, path: string): Message {
  const text = joinText(toBlocks(content), `${path}.content`);
  return { ...turn(CoreRole.TOOL, isError ? `Error: ${text}` : text), toolCallId: toolUseId };
}

function toolCall({ id, name, input }: ToolUseBlockParam, path: string): ToolCall {
  const argumentsJson = input === "" ? "{}" : input;
  if (!argumentsJson.startsWith("{")) {
    throw invalidField(`${path}.input`, "must be an object");
  }
  return { $typeName: "tollgate.inference.v1.ToolCall", id, name, argumentsJson };
}

function joinText(blocks: readonly Block[], path: string): string {
  const texts: string[] = [];
  for (const [i, block] of blocks.entries()) {
    if (block.case === "text") {
      texts.push(block.value.text);
    } else if (block.case === "toolReference") {
      texts.push(`Loaded tool: ${block.value.toolName}`); // the result of a search, else empty
    } else {
      refuse(block, `${path}[${i}]`);
    }
  }
  return joined(texts);
}

/**
 * Refuses a block that does not belong here. Blocks that are silently dropped pass, such as traces of another service's
 * tools in an old conversation.
 */
function refuse(block: Block, path: string): void {
  switch (block.case) {
    case "toolUse":
      throw invalidField(path, "must not be a tool_use: only assistant turns call tools");
    case "toolResult":
      throw invalidField(path, "must not be a tool_result: only user turns answer tools");
    case "toolAddition":
    case "toolRemoval":
      throw invalidField(path, "must not be a change of tools: only system turns change them");
  }
}

type Block = ContentBlockParam["block"];

function toBlocks(content: MessageContent | undefined): readonly Block[] {
  switch (content?.form.case) {
    case "text":
      return [{ case: "text", value: { $typeName: "tollgate.messages.v1.TextBlockParam", text: content.form.value } }];
    case "blocks":
      return content.form.value.blocks.map(({ block }) => block);
    case undefined:
      return [];
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n");
}

function turn(role: CoreRole, text: string): Message {
  return { $typeName: "tollgate.inference.v1.Message", role, text, reasoning: "", toolCalls: [], toolCallId: "" };
}
