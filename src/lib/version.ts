/** The release of this product, the same as in package.json. */
export const productVersion = '0.1.0';
/** The release of the API that it speaks. */
export const apiRelease = '1.24';
/** The patch release of the stock server whose behaviour it has. */
export const stockRelease = `${apiRelease}.17`;
