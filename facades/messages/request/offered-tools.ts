import type { Tool } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { CreateMessageRequest } from "#gen/tollgate/messages/v1/create_message_pb.js";
import type {
  ContentBlockParam,
  ToolAdditionBlockParam,
  ToolChange,
  ToolReferenceBlockParam,
} from "#gen/tollgate/messages/v1/message_param_pb.js";
import type { ToolParam } from "#gen/tollgate/messages/v1/tool_pb.js";
import { invalidField } from "../../http/request/error.ts";
import { toTool } from "./tool-definition.ts";

/**
 * The tools that the model may call in the next turn: those of the request, as the turns loaded, added and withdrew
 * them. A tool comes last when it is offered late, so that prompts keep their beginning.
 */
export function offeredTools({ tools, messages }: Pick<CreateMessageRequest, "tools" | "messages">): Tool[] {
  const offer = new Offer(tools);
  for (const [i, { content }] of messages.entries()) {
    if (content?.form.case === "blocks") {
      offer.follow(content.form.value.blocks, `messages[${i}].content`);
    }
  }
  return offer.tools;
}

class Offer {
  /** All tools so far by name, whether offered or not. */
  readonly #known = new Map<string, Tool>();
  readonly #offered = new Map<string, Tool>();

  /** Throws RequestError for tools of the same name: their calls could not be told apart. */
  constructor(params: readonly ToolParam[]) {
    for (const [i, param] of params.entries()) {
      const tool = toTool(param, `tools[${i}]`);
      if (this.#known.has(tool.name)) {
        throw invalidField(`tools[${i}].name`, "must be unique: an earlier tool has this name");
      }
      this.#known.set(tool.name, tool);
      if (!param.deferLoading) {
        this.#offered.set(tool.name, tool);
      }
    }
  }

  get tools(): Tool[] {
    return [...this.#offered.values()];
  }

  follow(blocks: readonly ContentBlockParam[], path: string): void {
    for (const [i, { block }] of blocks.entries()) {
      switch (block.case) {
        case "toolReference":
          this.#load([block.value]);
          break;
        case "toolSearchToolResult":
          this.#load(block.value.content?.toolReferences ?? []);
          break;
        case "toolResult":
          if (block.value.content?.form.case === "blocks") {
            this.follow(block.value.content.form.value.blocks, `${path}[${i}].content`);
          }
          break;
        case "toolAddition":
        case "toolRemoval":
          this.#change(block, `${path}[${i}]`);
          break;
        case "compaction":
          for (const [at, { change }] of block.value.toolChanges.entries()) {
            this.#change(change, `${path}[${i}].tool_changes[${at}]`);
          }
      }
    }
  }

  /** Offers tools that were found. A name without a tool is of one that the caller no longer has. */
  #load(references: readonly ToolReferenceBlockParam[]): void {
    for (const { toolName } of references) {
      const tool = this.#known.get(toolName);
      if (tool !== undefined) {
        this.#offered.set(toolName, tool);
      }
    }
  }

  #change(change: ToolChange["change"], path: string): void {
    if (change.case === "toolAddition") {
      const tool = this.#added(change.value, `${path}.tool`);
      this.#known.set(tool.name, tool);
      this.#offered.set(tool.name, tool);
    } else if (change.case === "toolRemoval") {
      this.#offered.delete(change.value.tool?.tool.value?.name ?? "");
    }
  }

  #added({ tool: added }: ToolAdditionBlockParam, path: string): Tool {
    if (added?.tool.case === "toolDefinition" && added.tool.value.definition !== undefined) {
      return toTool(added.tool.value.definition, `${path}.definition`);
    }
    const known = added?.tool.case === "toolReference" ? this.#known.get(added.tool.value.name) : undefined;
    if (known === undefined) {
      throw invalidField(`${path}.name`, "must be the name of one of the tools");
    }
    return known;
  }
}
