// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a robot's cameras, from the address of the dashboard (docs/CAMERAS.md), and the
// decoder of those that are baseline JPEG.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "core.hpp"

namespace playerc {

using namespace std::chrono;

// ---- HTTP ----

static Failure unavailable(const std::string &address, const std::string &why) {
  return {"the cameras at " + address + ": " + why + "; start the server with -http, or set PLAYERC_SIMULATION to the HOST:PORT of its dashboard"};
}

// Returns the body of an answer, and its head.
static std::string get(const Client &client, const std::string &path, std::string &head) {
  auto [host, port] = client.Dashboard();
  std::string address = host + ":" + port, request = "GET " + path + " HTTP/1.0\r\nHost: " + address + "\r\n\r\n", answer;
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (int r = getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) throw unavailable(address, gai_strerror(r));
  int socket = -1;
  for (addrinfo *a = found; a && socket < 0; a = a->ai_next) {
    socket = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (socket >= 0 && connect(socket, a->ai_addr, a->ai_addrlen) != 0) {
      close(socket);
      socket = -1;
    }
  }
  freeaddrinfo(found);
  if (socket < 0) throw unavailable(address, "there is no answer");
  struct Closer {
    int fd;
    ~Closer() { close(fd); }
  } closer{socket};
  if (send(socket, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) throw unavailable(address, "it does not take the request");
  constexpr size_t most = 2 << 20; // bytes: a picture has at most 1 MiB
  auto deadline = steady_clock::now() + client.patience;
  for (char part[16384];;) {
    auto left = ceil<milliseconds>(deadline - steady_clock::now()).count();
    pollfd p{socket, POLLIN, 0};
    if (left <= 0 || poll(&p, 1, static_cast<int>(left)) <= 0) throw unavailable(address, "no answer in time");
    ssize_t n = recv(socket, part, sizeof part, 0);
    if (n < 0) throw unavailable(address, "the connection is lost");
    if (n == 0) break;
    answer.append(part, static_cast<size_t>(n));
    if (answer.size() > most) throw unavailable(address, "the answer is too long");
  }
  size_t end = answer.find("\r\n\r\n");
  if (end == std::string::npos || answer.compare(0, 5, "HTTP/") != 0) throw unavailable(address, "no answer of a dashboard");
  head = answer.substr(0, end);
  std::string body = answer.substr(end + 4);
  if (head.find(" 200 ") > head.find("\r\n")) throw unavailable(address, body.substr(0, body.find('\n')));
  return body;
}

std::string FindCamera(const Client &client, uint32_t index) {
  std::string head, list = get(client, "/robots", head), port = ":" + std::to_string(client.port) + "\"";
  // One object for each robot: {"name":...,"address":"HOST:PORT",...,"cameras":["NAME",...]}.
  size_t robot = list.find(port), end = list.find('}', robot), names = list.find("\"cameras\":[", robot);
  uint32_t count = 0;
  if (robot != std::string::npos && names < end) {
    for (size_t at = list.find('[', names) + 1; at < end && list[at] == '"'; count++) {
      size_t close = list.find('"', at + 1);
      if (count == index) return list.substr(at + 1, close - at - 1);
      at = close + (list[close + 1] == ',' ? 2 : 1);
    }
  }
  throw Failure{"the robot of port " + std::to_string(client.port) + " has " + std::to_string(count) + " cameras"};
}

// ---- JPEG ----

namespace {

struct Broken {}; // the bytes are no picture that this decoder knows

// Decoder of baseline JPEG, as cameras and the simulator write it: Huffman codes, 8 bits, one scan.
class Decoder {
  const std::vector<uint8_t> &in;
  size_t at = 0;

  struct Table {
    std::array<int, 17> least{}, most{}, first{}; // codes of each length, and where their values begin
    std::vector<uint8_t> values;
  };
  struct Component {
    int id = 0, across = 1, down = 1, quantization = 0, dc = 0, ac = 0, last = 0;
    unsigned stride = 0;
    std::vector<uint8_t> samples;
  };
  std::array<std::array<int, 64>, 4> quantizations{};
  std::array<Table, 4> dcs, acs;
  std::vector<Component> components;
  unsigned restart = 0, bits = 0;
  int left = 0; // bits that have been read and not used

  int Byte() {
    if (at >= in.size()) throw Broken{};
    return in[at++];
  }
  int Word() {
    int high = Byte();
    return high << 8 | Byte();
  }

public:
  unsigned width = 0, height = 0;

  explicit Decoder(const std::vector<uint8_t> &bytes) : in(bytes) {}

  // Reads segments up to the size of the picture, or up to its end.
  void Read(bool whole) {
    if (Word() != 0xffd8) throw Broken{};
    for (;;) {
      while (Byte() != 0xff) continue;
      int marker = Byte();
      while (marker == 0xff) marker = Byte();
      if (marker == 0xd9) throw Broken{};
      size_t end = at;
      end += static_cast<size_t>(Word());
      if (end > in.size()) throw Broken{};
      switch (marker) {
      case 0xdb: Quantizations(end); break;
      case 0xc4: Codes(end); break;
      case 0xc0:
      case 0xc1:
        Frame();
        if (!whole) return;
        break;
      case 0xdd: restart = static_cast<unsigned>(Word()); break;
      case 0xda:
        Scan(end);
        return;
      default:
        if (marker >= 0xc2 && marker <= 0xcf && marker != 0xc8 && marker != 0xcc) throw Broken{}; // progressive and others
      }
      at = end;
    }
  }

  // Returns the pixels as red, green, blue.
  std::vector<uint8_t> Pixels() const {
    std::vector<uint8_t> out;
    out.reserve(size_t{3} * width * height);
    int across = components[0].across, down = components[0].down;
    for (unsigned y = 0; y < height; y++)
      for (unsigned x = 0; x < width; x++) {
        std::array<double, 3> v{0, 128, 128};
        for (size_t i = 0; i < components.size(); i++) {
          const Component &c = components[i];
          v[i] = c.samples[y * static_cast<unsigned>(c.down) / static_cast<unsigned>(down) * c.stride + x * static_cast<unsigned>(c.across) / static_cast<unsigned>(across)];
        }
        double cb = v[1] - 128, cr = v[2] - 128;
        for (double p : {v[0] + 1.402 * cr, v[0] - 0.344136 * cb - 0.714136 * cr, v[0] + 1.772 * cb})
          out.push_back(static_cast<uint8_t>(std::lround(std::clamp(p, 0.0, 255.0))));
      }
    return out;
  }

private:
  static const std::array<uint8_t, 64> zigzag;

  void Quantizations(size_t end) {
    while (at < end) {
      int head = Byte();
      for (int k = 0; k < 64; k++) quantizations[head & 3][zigzag[static_cast<size_t>(k)]] = head >> 4 ? Word() : Byte();
    }
  }

  void Codes(size_t end) {
    while (at < end) {
      int head = Byte(), code = 0, total = 0;
      Table &t = (head >> 4 ? acs : dcs)[head & 3];
      std::array<int, 17> counts{};
      for (size_t n = 1; n <= 16; n++) counts[n] = Byte();
      for (size_t n = 1; n <= 16; n++) {
        t.least[n] = code;
        t.first[n] = total;
        code += counts[n];
        total += counts[n];
        t.most[n] = code;
        code <<= 1;
      }
      t.values.clear();
      while (total-- > 0) t.values.push_back(static_cast<uint8_t>(Byte()));
    }
  }

  void Frame() {
    if (Byte() != 8) throw Broken{};
    height = static_cast<unsigned>(Word());
    width = static_cast<unsigned>(Word());
    size_t count = static_cast<size_t>(Byte());
    if (width == 0 || height == 0 || width > 8192 || height > 8192 || (count != 1 && count != 3)) throw Broken{};
    components.assign(count, {});
    int across = 1, down = 1;
    for (Component &c : components) {
      c.id = Byte();
      int factors = Byte();
      c.across = factors >> 4;
      c.down = factors & 15;
      c.quantization = Byte() & 3;
      if (c.across < 1 || c.across > 4 || c.down < 1 || c.down > 4) throw Broken{};
      across = std::max(across, c.across);
      down = std::max(down, c.down);
    }
    // The first one has all pixels.
    if (components[0].across != across || components[0].down != down) throw Broken{};
  }

  int Bit() {
    if (left == 0) {
      bits = static_cast<unsigned>(Byte());
      if (bits == 0xff && Byte() != 0) throw Broken{}; // a marker within a block
      left = 8;
    }
    return bits >> --left & 1;
  }
  int Bits(int n) {
    int v = 0;
    while (n-- > 0) v = v << 1 | Bit();
    return v;
  }
  // Returns a signed number of so many bits.
  int Number(int n) {
    int v = Bits(n);
    return n > 0 && v < 1 << (n - 1) ? v - (1 << n) + 1 : v;
  }
  int Value(const Table &t) {
    int code = 0;
    for (size_t n = 1; n <= 16; n++) {
      code = code << 1 | Bit();
      size_t place = static_cast<size_t>(t.first[n] + code - t.least[n]);
      if (code < t.most[n] && code >= t.least[n] && place < t.values.size()) return t.values[place];
    }
    throw Broken{};
  }

  void Scan(size_t end) {
    size_t count = static_cast<size_t>(Byte());
    if (components.empty() || count != components.size()) throw Broken{};
    for (size_t i = 0; i < count; i++) {
      int id = Byte(), tables = Byte();
      for (Component &c : components)
        if (c.id == id) c.dc = tables >> 4 & 3, c.ac = tables & 3;
    }
    at = end;
    if (components.size() == 1) components[0].across = components[0].down = 1; // blocks are not grouped
    unsigned across = 8u * static_cast<unsigned>(components[0].across), down = 8u * static_cast<unsigned>(components[0].down);
    unsigned columns = (width + across - 1) / across, rows = (height + down - 1) / down, n = 0;
    for (Component &c : components) {
      c.stride = columns * 8 * static_cast<unsigned>(c.across);
      c.samples.assign(size_t{c.stride} * rows * 8 * static_cast<unsigned>(c.down), 0);
    }
    for (unsigned row = 0; row < rows; row++)
      for (unsigned column = 0; column < columns; column++, n++) {
        if (restart > 0 && n > 0 && n % restart == 0) Restart();
        for (Component &c : components)
          for (unsigned v = 0; v < static_cast<unsigned>(c.down); v++)
            for (unsigned h = 0; h < static_cast<unsigned>(c.across); h++)
              Block(c, (column * static_cast<unsigned>(c.across) + h) * 8, (row * static_cast<unsigned>(c.down) + v) * 8);
      }
  }

  void Restart() {
    left = 0;
    if (Byte() != 0xff || (Byte() & 0xf8) != 0xd0) throw Broken{};
    for (Component &c : components) c.last = 0;
  }

  void Block(Component &c, unsigned x, unsigned y) {
    const auto &q = quantizations[static_cast<size_t>(c.quantization)];
    std::array<double, 64> f{}, half{};
    c.last += Number(Value(dcs[static_cast<size_t>(c.dc)]) & 15);
    f[0] = c.last * q[0];
    for (size_t k = 1; k < 64; k++) {
      int v = Value(acs[static_cast<size_t>(c.ac)]);
      if (v == 0) break;
      k += static_cast<size_t>(v >> 4);
      if (k > 63) throw Broken{};
      f[zigzag[k]] = Number(v & 15) * q[zigzag[k]];
    }
    static const std::array<double, 64> cosines = [] { // of place and frequency
      std::array<double, 64> a{};
      for (size_t i = 0; i < 64; i++) a[i] = (i % 8 ? 0.5 : std::sqrt(0.125)) * std::cos((2 * static_cast<double>(i / 8) + 1) * static_cast<double>(i % 8) * M_PI / 16);
      return a;
    }();
    for (size_t row = 0; row < 8; row++)
      for (size_t i = 0; i < 8; i++)
        for (size_t u = 0; u < 8; u++) half[row * 8 + i] += f[row * 8 + u] * cosines[i * 8 + u];
    for (size_t j = 0; j < 8; j++)
      for (size_t i = 0; i < 8; i++) {
        double v = 128;
        for (size_t u = 0; u < 8; u++) v += half[u * 8 + i] * cosines[j * 8 + u];
        c.samples[(y + j) * c.stride + x + i] = static_cast<uint8_t>(std::lround(std::clamp(v, 0.0, 255.0)));
      }
  }
};

const std::array<uint8_t, 64> Decoder::zigzag = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                                                 41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                                                 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

} // namespace

Picture TakePicture(const Client &client, const std::string &camera) {
  std::string head, body = get(client, "/camera/" + camera + "/picture", head);
  Picture p;
  p.bytes.assign(body.begin(), body.end());
  try {
    Decoder d(p.bytes);
    d.Read(false);
    p.width = d.width;
    p.height = d.height;
  } catch (const Broken &) {
    throw Failure{"camera " + camera + " sends pictures that are not baseline JPEG"};
  }
  return p;
}

void Picture::Decompress() {
  if (!compressed || bytes.empty()) return;
  try {
    Decoder d(bytes);
    d.Read(true);
    bytes = d.Pixels();
    compressed = false;
  } catch (const Broken &) {
    throw Failure{"the picture is damaged, or not baseline JPEG"};
  }
}

void Picture::Write(const std::string &path) const {
  FILE *file = fopen(path.c_str(), "wb");
  bool written = file != nullptr;
  if (file && !compressed) written = fprintf(file, "P6\n%u %u\n255\n", width, height) > 0;
  if (file) written = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && written;
  if (file) written = fclose(file) == 0 && written;
  if (!written) throw Failure{"cannot write " + path + ": " + strerror(errno)};
}

}  // namespace playerc
