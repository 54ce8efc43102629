// Writes GGUF version 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

const alignment = 32;

/** Kinds of metadata values, by their numbers in the file. */
const kinds = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;

/** Float32, the only kind of tensor that is written. */
const f32 = 0;

/** A model file in the making. */
export class GgufFile {
  readonly #metadata: Buffer[] = [];
  readonly #tensors: { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array }[] = [];

  uint32(key: string, value: number): void {
    this.#add(key, kinds.uint32, u32(value));
  }

  float32(key: string, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.#add(key, kinds.float32, bytes);
  }

  bool(key: string, value: boolean): void {
    this.#add(key, kinds.bool, Buffer.from([value ? 1 : 0]));
  }

  string(key: string, value: string): void {
    this.#add(key, kinds.string, text(value));
  }

  strings(key: string, values: readonly string[]): void {
    this.#add(key, kinds.array, Buffer.concat([u32(kinds.string), u64(values.length), ...values.map(text)]));
  }

  int32s(key: string, values: readonly number[]): void {
    this.#add(key, kinds.array, Buffer.concat([u32(kinds.int32), u64(values.length), ...values.map(u32)]));
  }

  /** Adds a tensor; the first dimension of the shape is the one whose values stand next to each other. */
  tensor(name: string, shape: readonly number[], data: Float32Array): void {
    this.#tensors.push({ name, shape, data });
  }

  toBuffer(): Buffer {
    let offset = 0;
    const infos = this.#tensors.map(({ name, shape, data }) => {
      const info = Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(f32), u64(offset)]);
      offset += Math.ceil(data.byteLength / alignment) * alignment;
      return info;
    });
    const counts = [u64(this.#tensors.length), u64(this.#metadata.length)];
    const head = Buffer.concat([Buffer.from("GGUF"), u32(3), ...counts, ...this.#metadata, ...infos]);
    return Buffer.concat([padded(head), ...this.#tensors.map(({ data }) => padded(Buffer.from(data.buffer)))]);
  }

  #add(key: string, kind: number, value: Buffer): void {
    this.#metadata.push(Buffer.concat([text(key), u32(kind), value]));
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}
