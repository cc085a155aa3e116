/**
 * AWS's binary event stream: one message is a prelude (two lengths and their checksum), named headers, a payload and
 * a checksum over all of it. Only what a vendor must write: string headers.
 */

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** A header's value is a string: its type's number in the format. */
const STRING_TYPE = 7;

/** Builds one message. Names of headers are shorter than 256 bytes, values than 64 KiB. */
export function eventStreamMessage(headers: Record<string, string>, payload: Uint8Array): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value)));
  const total = PRELUDE_BYTES + head.length + payload.length + CHECKSUM_BYTES;
  const message = Buffer.alloc(total);
  message.writeUInt32BE(total, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, PRELUDE_BYTES);
  message.set(payload, PRELUDE_BYTES + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, total - CHECKSUM_BYTES)), total - CHECKSUM_BYTES);
  return message;
}

function headerBytes(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([
    Buffer.from([nameBytes.length]),
    nameBytes,
    Buffer.from([STRING_TYPE]),
    length,
    valueBytes,
  ]);
}

/** The polynomial of Ethernet, gzip and AWS, reflected. */
const CRC_POLYNOMIAL = 0xedb88320;
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ CRC_POLYNOMIAL : value >>> 1;
  return value;
});

/** `zlib.crc32` begins with Node 22. */
export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (CRC_TABLE[(value ^ byte) & 0xff] ?? 0);
  return (value ^ 0xffffffff) >>> 0;
}
