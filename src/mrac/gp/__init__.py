"""One Gaussian process for gate, fit and head: kernel, features of pixels, posterior, linear algebra."""
