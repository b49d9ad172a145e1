/** The name by which nodes list an image: with a tag, if it has none. */
export const taggedImage = (image: string): string => (image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image);
