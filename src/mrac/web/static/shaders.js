// Shaders of the point cloud: points from a texture of depth, and readings as discs (kept) or crosses (rejected).

export const POINTS = {
  vertex: `#version 300 es
    precision highp float;
    precision highp sampler2D;
    uniform mat4 matrix;
    uniform sampler2D depth, sigma, photo, colours;
    uniform int stride, columns, paint;
    uniform float focal, size, steepest;
    uniform vec2 centre, limits;
    out vec3 colour;
    void main() {
      ivec2 at = ivec2(gl_VertexID % columns, gl_VertexID / columns) * stride;
      float z = texelFetch(depth, at, 0).r;
      gl_Position = matrix * vec4((vec2(at) - centre) / focal * z, z, 1.0);
      ivec2 last = textureSize(depth, 0) - 1;
      float across = texelFetch(depth, min(at + ivec2(1, 0), last), 0).r;
      float down = texelFetch(depth, min(at + ivec2(0, 1), last), 0).r;
      if (max(abs(across - z), abs(down - z)) > steepest * z) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
      gl_PointSize = clamp(size * z / gl_Position.w, 1.0, 24.0);
      if (paint == 0) {
        colour = texelFetch(photo, at, 0).rgb;
      } else {
        float value = paint == 1 ? z : texelFetch(sigma, at, 0).r;
        float share = clamp((log(value) - limits.x) / (limits.y - limits.x), 0.0, 1.0);
        colour = texelFetch(colours, ivec2(int(share * 255.0 + 0.5), 0), 0).rgb;
      }
    }`,
  fragment: `#version 300 es
    precision mediump float;
    in vec3 colour;
    out vec4 shown;
    void main() { shown = vec4(colour, 1.0); }`,
};

export const READINGS = {
  vertex: `#version 300 es
    precision highp float;
    layout(location = 0) in vec3 place;
    layout(location = 1) in vec4 look;
    uniform mat4 matrix;
    uniform float size;
    out vec4 colour;
    void main() {
      gl_Position = matrix * vec4(place, 1.0);
      gl_Position.z -= 0.002 * gl_Position.w;
      gl_PointSize = size;
      colour = look;
    }`,
  fragment: `#version 300 es
    precision mediump float;
    in vec4 colour;
    out vec4 shown;
    void main() {
      vec2 at = 2.0 * gl_PointCoord - 1.0;
      float line = colour.a > 0.5 ? min(abs(at.x - at.y), abs(at.x + at.y)) * 0.7071 : abs(length(at) - 0.62);
      if (line > 0.36 || max(abs(at.x), abs(at.y)) > 0.98) discard;
      shown = vec4(line > 0.2 ? vec3(0.09) : colour.rgb, 1.0);
    }`,
};
