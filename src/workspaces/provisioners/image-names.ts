/** Names of container images. Pure. */

/** Adds the default tag when there is none: without a tag an engine pulls all tags. */
export function imageWithTag(image: string): string {
  if (image.includes("@")) return image;
  const lastPart = image.slice(image.lastIndexOf("/") + 1);
  return lastPart.includes(":") ? image : `${image}:latest`;
}
