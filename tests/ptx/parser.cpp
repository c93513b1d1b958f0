// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "block.hpp"
#include "complaint.hpp"
#include "counter.hpp"
#include "module.hpp"
#include "special.hpp"
#include "tokens.hpp"

namespace ptx {

namespace {

int rounded_up(int bytes, int alignment) { return (bytes + alignment - 1) / alignment * alignment; }

// What executes an instruction that no family knows.
void unknown(Warp&, Instruction const& instruction, Mask) {
  stop("the interpreter does not know the instruction " + instruction.text +
       " Add it to its family in tests/ptx.");
}

class Parser {
 public:
  explicit Parser(std::string const& text) : tokens_(text) {}
  std::unique_ptr<Module> run();

 private:
  using Symbols = std::unordered_map<std::string, Operand>;
  struct Declaration {
    std::string name;
    int alignment = 1, element = 1, bytes = 1;
  };
  struct Argument {
    std::vector<Operand> operands;
    bool is_vector = false, is_address = false;
    long offset = 0;
  };

  Declaration declaration();
  void global_variable();
  void initial_values(std::byte* memory, int element);
  Operand shared_variable(bool is_external);
  void parameters(std::vector<Function::Parameter>& list);
  void function(bool is_entry);
  void body();
  void registers();
  bool local_declaration();
  void instruction();
  void call(Instruction& instruction);
  void resolve_calls();
  Argument argument();
  void place(Instruction& instruction, Argument const& argument, bool is_target);
  void decode(Instruction& instruction, Opcode const& opcode);
  Operand operand(std::string const& word);

  Tokens tokens_;
  std::unique_ptr<Module> module_ = std::make_unique<Module>();
  Function* function_ = nullptr;
  bool has_unknown_name_ = false;  // in the instruction
  std::vector<Symbols> scopes_;
  std::map<std::string, int> labels_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;
};

// Behind the space: .align 8 .b8 name[16]
Parser::Declaration Parser::declaration() {
  Declaration result;
  while (tokens_.peek()[0] == '.') {
    std::string const word = tokens_.take();
    if (word == ".align")
      result.alignment = tokens_.number();
    else if (word == ".v2" || word == ".v4")
      stop("the interpreter does not know variables of vectors.");
    else if (word != ".ptr" && word != ".global" && word != ".shared" && word != ".const")
      result.element = bytes_of(word);
  }
  result.name = tokens_.take();
  result.alignment = std::max(result.alignment, result.element);
  result.bytes = result.element;
  while (tokens_.skip("[")) {
    result.bytes *= tokens_.peek() == "]" ? 0 : tokens_.number();
    tokens_.expect("]");
  }
  return result;
}

void Parser::global_variable() {
  Declaration const declared = declaration();
  auto const bytes = std::size_t(declared.bytes);
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
  std::memset(memory, 0, bytes);
  if (tokens_.skip("=")) initial_values(memory, declared.element);
  tokens_.expect(";");
  module_->variables[declared.name] = {memory, bytes};
  module_->symbols[declared.name] = constant(reinterpret_cast<Bits>(memory));
}

void Parser::initial_values(std::byte* memory, int element) {
  bool const is_list = tokens_.skip("{");
  do {
    std::string const word = tokens_.signed_word();
    if (!is_number(word))
      stop("the interpreter does not know variables that begin with an address: " + word + ".");
    Bits const bits = bits_of(word);
    std::memcpy(memory, &bits, std::size_t(element));
    memory += element;
  } while (tokens_.skip(","));
  if (is_list) tokens_.expect("}");
}

Operand Parser::shared_variable(bool is_external) {
  Declaration const declared = declaration();
  tokens_.expect(";");
  long begin = Block::dynamic_begin;
  if (!is_external) {
    int& all = module_->static_shared;
    all = rounded_up(all, declared.alignment);
    begin = Block::static_begin + all;
    all += declared.bytes;
    if (begin + declared.bytes > Block::dynamic_begin)
      stop("the kernels of a program declare more than 48 KiB of scratch memory.");
  }
  return scopes_.back()[declared.name] = constant(Bits(begin));
}

void Parser::parameters(std::vector<Function::Parameter>& list) {
  tokens_.expect("(");
  while (!tokens_.skip(")")) {
    tokens_.skip(",");
    tokens_.expect(".param");
    Declaration const declared = declaration();
    int& all = function_->is_entry ? function_->entry_bytes : function_->call_bytes;
    all = rounded_up(all, declared.alignment);
    list.push_back({all, declared.bytes});
    scopes_.back()[declared.name] = {
        function_->is_entry ? Operand::entry_parameter : Operand::call_parameter, all};
    all += declared.bytes;
  }
}

void Parser::function(bool is_entry) {
  auto fresh = std::make_unique<Function>();
  function_ = fresh.get();
  function_->is_entry = is_entry;
  function_->module = module_.get();
  scopes_.emplace_back();
  if (tokens_.peek() == "(") parameters(function_->outputs);
  function_->name = tokens_.take();
  if (tokens_.peek() == "(") parameters(function_->inputs);
  while (tokens_.peek()[0] == '.') {
    std::string const word = tokens_.take();
    if (word == ".noreturn") continue;
    int count = tokens_.number();
    while (tokens_.skip(",")) count *= tokens_.number();
    if (word == ".maxntid" || word == ".reqntid") function_->most_threads = count;
  }
  // What has called a declaration keeps the place of its definition.
  auto& known = module_->functions[function_->name];
  bool const is_definition = !tokens_.skip(";");
  if (known && is_definition) *known = *function_;
  if (!known) known = std::move(fresh);
  function_ = known.get();
  if (is_definition) body();
  scopes_.pop_back();
}

void Parser::body() {
  labels_.clear();
  jumps_.clear();
  tokens_.expect("{");
  std::size_t const outside = scopes_.size();
  scopes_.emplace_back();
  while (scopes_.size() > outside) {
    std::string const& word = tokens_.peek();
    if (tokens_.skip("{")) {
      scopes_.emplace_back();
    } else if (tokens_.skip("}")) {
      scopes_.pop_back();
    } else if (word == ".pragma") {
      while (tokens_.take() != ";") {
      }
    } else if (tokens_.peek(1) == ":") {
      labels_[tokens_.take()] = int(function_->code.size());
      tokens_.take();
    } else if (!tokens_.skip(";") && !local_declaration()) {
      instruction();
    }
  }
  for (auto const& [place, label] : jumps_) function_->code[place].target = labels_.at(label);
  Instruction end;
  end.flow = function_->is_entry ? Flow::exit : Flow::leave;
  end.text = "the end";
  function_->code.push_back(end);
  function_->call_bytes = rounded_up(function_->call_bytes, 16);
  function_->local_bytes = rounded_up(function_->local_bytes, 16);
}

void Parser::registers() {
  bool const is_wide = bytes_of(tokens_.take()) == 8;
  do {
    std::string const name = tokens_.take();
    bool const is_range = tokens_.skip("<");
    int const count = is_range ? tokens_.number() : 1;
    if (is_range) tokens_.expect(">");
    for (int i = 0; i < count; ++i)
      scopes_.back()[is_range ? name + std::to_string(i) : name] = {Operand::variable,
                                                                    function_->rows++, is_wide};
  } while (tokens_.skip(","));
  tokens_.expect(";");
}

bool Parser::local_declaration() {
  if (tokens_.skip(".reg")) {
    registers();
  } else if (tokens_.skip(".shared")) {
    shared_variable(false);
  } else if (tokens_.peek() == ".local" || tokens_.peek() == ".param") {
    bool const is_local = tokens_.take() == ".local";
    Declaration const declared = declaration();
    tokens_.expect(";");
    int& all = is_local ? function_->local_bytes : function_->call_bytes;
    all = rounded_up(all, 16);
    scopes_.back()[declared.name] = {is_local ? Operand::local_address : Operand::call_parameter,
                                     all};
    all += declared.bytes;
  } else {
    return false;
  }
  return true;
}

Operand Parser::operand(std::string const& word) {
  if (is_number(word)) return constant(bits_of(word));
  if (word == "_") return {};
  if (int const special = special_of(word); special >= 0) return {Operand::special, special};
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto const found = scope->find(word); found != scope->end()) return found->second;
  if (auto const found = module_->symbols.find(word); found != module_->symbols.end())
    return found->second;
  has_unknown_name_ = true;
  return {};
}

// A register, a number, a vector of them in braces, or an address in brackets.
Parser::Argument Parser::argument() {
  Argument result;
  if (tokens_.skip("{")) {
    result.is_vector = true;
    do result.operands.push_back(operand(tokens_.signed_word()));
    while (tokens_.skip(","));
    tokens_.expect("}");
    return result;
  }
  result.is_address = tokens_.skip("[");
  result.operands.push_back(operand(tokens_.signed_word()));
  if (tokens_.skip("|")) result.operands.push_back(operand(tokens_.take()));
  if (tokens_.skip("+")) result.offset = long(bits_of(tokens_.signed_word()));
  if (result.is_address) tokens_.expect("]");
  return result;
}

void Parser::place(Instruction& instruction, Argument const& argument, bool is_target) {
  if (argument.offset) instruction.offset = argument.offset;
  if (argument.is_address) {
    // A copy has two: to and from.
    if (instruction.address.kind != Operand::none) instruction.to.push_back(instruction.address);
    instruction.address = argument.operands[0];
    return;
  }
  auto& list = is_target ? instruction.to : instruction.from;
  list.insert(list.end(), argument.operands.begin(), argument.operands.end());
}

// (results), name, (arguments)
void Parser::call(Instruction& instruction) {
  auto const parameter_list = [&](std::vector<int>& list) {
    while (!tokens_.skip(")")) {
      list.push_back(operand(tokens_.take()).index);
      tokens_.skip(",");
    }
  };
  if (tokens_.skip("(")) {
    parameter_list(instruction.results);
    tokens_.expect(",");
  }
  std::string const name = tokens_.take();
  if (tokens_.skip(",")) {
    tokens_.expect("(");
    parameter_list(instruction.arguments);
  }
  auto const found = module_->functions.find(name);
  if (found != module_->functions.end()) instruction.callee = found->second.get();
  instruction.flow = name == "__assertfail" ? Flow::exit : Flow::call;
  instruction.option = 1;  // of an exit: the kernel gives up
  instruction.execute = unknown;
}

// Calls of what nobody has defined are unknown instructions; a caller has what its functions have.
void Parser::resolve_calls() {
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (auto& [name, caller] : module_->functions)
      for (auto& call : caller->code) {
        if (call.flow != Flow::call) continue;
        if (!call.callee || call.callee->code.empty()) {
          call.flow = Flow::next;
        } else if (call.callee->has_atomics && !caller->has_atomics) {
          caller->has_atomics = is_new = true;
        }
      }
  }
}

void Parser::decode(Instruction& instruction, Opcode const& opcode) {
  std::string const& name = opcode.name();
  if (name == "ret" || name == "exit" || name == "trap") {
    instruction.flow = name == "ret" && !function_->is_entry ? Flow::leave : Flow::exit;
    instruction.option = name == "trap";
    return;
  }
  if (name == "atom" || name == "red" || name == "membar" || name == "fence")
    function_->has_atomics = true;
  bool const is_known = decode_memory(instruction, opcode) || decode_copies(instruction, opcode) ||
                        decode_lanes(instruction, opcode) || decode_matrix(instruction, opcode) ||
                        decode_conversion(instruction, opcode) ||
                        decode_arithmetic(instruction, opcode);
  if (!is_known) instruction.execute = unknown;
}

void Parser::instruction() {
  Instruction result;
  std::size_t const begin = tokens_.position();
  if (tokens_.skip("@")) {
    result.guard_negated = tokens_.skip("!");
    result.guard = operand(tokens_.take()).index;
  }
  has_unknown_name_ = false;
  Opcode const opcode(tokens_.take());
  result.unit = unit_of(opcode);
  std::string const& name = opcode.name();
  // Those that write no register; wgmma reads the sums that it writes.
  bool const is_barrier = name == "bar" || name == "barrier";
  bool const has_target = name != "st" && name != "red" && !(is_barrier && !opcode.has("red")) &&
                          name != "wgmma" && name != "trap" && name != "cp";
  if (name == "bra") {
    result.flow = Flow::branch;
    jumps_.emplace_back(function_->code.size(), tokens_.take());
  } else if (name == "call") {
    call(result);
  } else {
    for (bool is_first = true; tokens_.peek() != ";"; is_first = false) {
      place(result, argument(), has_target && is_first);
      tokens_.skip(",");
    }
  }
  while (tokens_.take() != ";") {  // of a call by pointer, which is not known
  }
  result.text = tokens_.since(begin);
  if (name != "bra" && name != "call") decode(result, opcode);
  if (has_unknown_name_) {
    result.flow = Flow::next;
    result.execute = unknown;
  }
  function_->code.push_back(std::move(result));
}

std::unique_ptr<Module> Parser::run() {
  scopes_.emplace_back();
  while (!tokens_.at_end()) {
    std::string const word = tokens_.take();
    bool const is_external = word == ".extern";
    if (word == ".version" || word == ".address_size" || word == ".target") {
      do tokens_.take();
      while (tokens_.skip(","));
    } else if (is_external || word == ".visible" || word == ".weak" || word == ".common") {
      if (is_external && tokens_.skip(".shared")) shared_variable(true);
    } else if (word == ".entry" || word == ".func") {
      function(word == ".entry");
    } else if (word == ".global" || word == ".const") {
      global_variable();
    } else if (word == ".shared") {
      shared_variable(false);
    } else if (word != ";") {
      stop("the interpreter does not know what begins with " + word + " " + tokens_.peek() +
           " outside of functions. Compile without -G and -lineinfo.");
    }
  }
  resolve_calls();
  return std::move(module_);
}

}  // namespace

std::unique_ptr<Module> parse(std::string const& text) { return Parser(text).run(); }

}  // namespace ptx
